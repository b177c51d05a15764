"""Widgets: one family of controls a file. Each draws a value, and reads back what it drew."""
