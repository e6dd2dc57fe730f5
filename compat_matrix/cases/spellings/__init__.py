"""Public names that no other case uses: each is called once, with gradients where it has them."""
