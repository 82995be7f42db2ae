"""What a provider sends in each wire protocol, in the shapes that its vendor documents."""
