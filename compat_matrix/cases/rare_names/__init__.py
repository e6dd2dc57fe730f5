"""Names that few programs call and many import or ask about: torch.cuda without a device, torch.compiler, settings, small utilities."""
