"""The spec: one pipeline's YAML file, checked."""

from sluice.spec.pipeline_spec import PipelineSpec
from sluice.spec.spec_files import find_spec, load_spec, spec_files

__all__ = ["PipelineSpec", "find_spec", "load_spec", "spec_files"]
