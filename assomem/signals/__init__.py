"""The three signals, as pure measures: numbers in 0..1, one for each candidate, in candidate order."""
