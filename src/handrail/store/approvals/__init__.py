"""Approvals as rows: questions that outlive the process which asked them."""
