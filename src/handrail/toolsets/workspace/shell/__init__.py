"""The shell: commands judged before they run, and run where they can do no harm."""
