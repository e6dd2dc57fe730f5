"""Small random models: without data first, then forward, gradients, saved to files and read back, text generated."""

import os
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import transformers

transformers.logging.set_verbosity_error()
SMALL = {"vocab_size": 50, "max_position_embeddings": 16}
MODELS = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 50, "n_positions": 16}),
    "bert": ("BertForMaskedLM", "BertConfig", {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, **SMALL}),
    "llama": ("LlamaForCausalLM", "LlamaConfig",
              {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 32, **SMALL}),
    "vit": ("ViTForImageClassification", "ViTConfig",
            {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "image_size": 8, "patch_size": 4, "num_labels": 3}),
    "t5": ("T5ForConditionalGeneration", "T5Config",
           {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "vocab_size": 50, "decoder_start_token_id": 0}),
}


def inputs(name):
    """A batch of two."""
    ids = torch.tensor([[3, 5, 7, 11], [2, 4, 6, 8]])
    if name == "vit":
        return {"pixel_values": torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8).double(), "labels": torch.tensor([0, 2])}
    return {"input_ids": ids, "labels": ids}


def model(name):
    """One model from nothing to what it says."""
    kind, config, fields = MODELS[name]
    kind, config = getattr(transformers, kind), getattr(transformers, config)(**fields)
    with torch.device("meta"):
        bare = kind(config)
    yield f"{name} without data", sorted({str(p.device) for p in bare.parameters()}), sum(p.numel() for p in bare.parameters())
    torch.manual_seed(0)
    net, given = kind(config).double().eval(), inputs(name)
    out = net(**given)
    yield f"{name} forward", out.loss.float(), out.logits.float()  # parts of them are computed in float32 whatever the dtype
    out.loss.backward()
    yield f"{name} gradients", [None if p.grad is None else p.grad.norm().float() for p in net.parameters()]
    with tempfile.TemporaryDirectory() as folder:
        net.save_pretrained(folder)
        yield f"{name} files", sorted(os.listdir(folder))
        again = kind.from_pretrained(folder, torch_dtype=torch.float64)
        yield f"{name} read back", again(**given).logits.float(), sorted({str(p.device) for p in again.parameters()})
    if name in ("gpt2", "llama", "t5"):
        yield f"{name} generated", net.generate(given["input_ids"], max_new_tokens=4, do_sample=False, pad_token_id=0)


def program():
    for name in MODELS:
        yield from model(name)
