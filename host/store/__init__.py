"""Remembering: grants, approvals and the ledger; never payloads, cookies or page text."""
