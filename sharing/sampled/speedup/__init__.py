"""What a fix would gain: two levels of one run compared, with and without sharing."""
