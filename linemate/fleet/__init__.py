"""Audits of fleets: results as datasets of Parquet, and engines that go past one machine."""
