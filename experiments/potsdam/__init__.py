"""The guide's real scene: 18 tiles of an EnMAP scene of Potsdam."""
