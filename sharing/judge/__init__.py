"""From passes and rules to findings: of an image, of declarations, and joined with their source."""
