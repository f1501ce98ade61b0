"""Dropout whose mask is cheaper to draw than that of nn.Dropout."""

import torch
from torch import Tensor, nn

LEVELS = 1 << 16


class Dropout(nn.Module):
    """Dropout (Srivastava et al., JMLR 15, 2014): in training, each entry is set to 0 with probability `rate`, and the
    others are scaled by 1 / (1 - rate).

    nn.Dropout draws a random number for each entry, which takes most of a training step on a CPU. Here four entries
    share the 64 bits of one number, and the rate is rounded down to a multiple of 1 / 65,536.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropped = int(rate * LEVELS)

    def forward(self, entries: Tensor) -> Tensor:
        if not self.training:
            return entries
        words = torch.empty(-(-entries.numel() // 4), dtype=torch.int64, device=entries.device)
        words.random_(-(1 << 63), None)
        bits = words.view(torch.int16)[: entries.numel()].view(entries.shape)
        kept = (bits >= self.dropped - LEVELS // 2).to(entries.dtype)
        return entries * kept.mul_(LEVELS / (LEVELS - self.dropped))
