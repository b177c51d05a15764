"""Dead letters as rows: calls whose body failed, kept for study and replay."""
