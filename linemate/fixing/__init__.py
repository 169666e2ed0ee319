"""The stages of ``linemate fix``: edits planned, written in one transaction, verified and measured."""
