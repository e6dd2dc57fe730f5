"""Adapters on a language model made here: low rank and scaled, trained, merged, saved."""

import tempfile

import torch
from peft import IA3Config, LoraConfig, PeftModel, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel


def base():
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=32, n_embd=8, n_layer=1, n_head=2, n_positions=16, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))


def program():
    torch.set_default_dtype(torch.float64)
    tokens = torch.arange(10)[None]
    for config in (LoraConfig(r=2, lora_alpha=4, target_modules=["c_attn"], lora_dropout=0.0, fan_in_fan_out=True),
                   LoraConfig(r=2, target_modules=["c_attn"], use_dora=True, fan_in_fan_out=True),
                   IA3Config(target_modules=["c_attn", "mlp.c_proj"], feedforward_modules=["mlp.c_proj"], fan_in_fan_out=True)):
        model = get_peft_model(base(), config)
        optimizer, losses = torch.optim.AdamW(model.parameters(), 1e-2, eps=1e-3), []
        for _ in range(2):
            loss = model(input_ids=tokens, labels=tokens).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        yield type(config).__name__, losses, list(model.get_nb_trainable_parameters())
        yield "adapters", {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            again = PeftModel.from_pretrained(base(), folder)
        yield "again", again(input_ids=tokens).logits.sum((0, 1))
        yield "merged", model.merge_and_unload()(input_ids=tokens).logits.sum((0, 1))
