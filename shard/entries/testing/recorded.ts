import type { DumpEntry } from '../../../kcp/migration.ts'

/** The logical cluster of the entries. */
export const recordedCluster = '2jyyxixn61rl3wu6'

const entry = (key: string, lines: readonly string[]): DumpEntry => ({ key, value: lines.join('') })

/** Entries of built-in kinds that a shard of kcp (dac74f595) sent. */
export const recorded: readonly DumpEntry[] = [
  entry('coordination.k8s.io/leases/2jyyxixn61rl3wu6/default/lease', [
    'azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRL9BArnBAoFbGVhc2USABoHZGVmYXVsdCIAKiQxMDg3M2U4',
    'MC03OTgyLTQ1NDAtOWQ3NS1jY2UxYWRlYjk3OTUyADgAQggIm+iT2AYQAGKSAgowa3ViZWN0bC5rdWJlcm5ldGVzLmlvL2xh',
    'c3QtYXBwbGllZC1jb25maWd1cmF0aW9uEt0BeyJhcGlWZXJzaW9uIjoiY29vcmRpbmF0aW9uLms4cy5pby92MSIsImtpbmQi',
    'OiJMZWFzZSIsIm1ldGFkYXRhIjp7ImFubm90YXRpb25zIjp7fSwibmFtZSI6ImxlYXNlIiwibmFtZXNwYWNlIjoiZGVmYXVs',
    'dCJ9LCJzcGVjIjp7ImhvbGRlcklkZW50aXR5IjoibWUiLCJsZWFzZUR1cmF0aW9uU2Vjb25kcyI6MTUsInJlbmV3VGltZSI6',
    'IjIwMjYtMDEtMDFUMDA6MDA6MDAuMDAwMDAxWiJ9fQqKAYYCChlrdWJlY3RsLWNsaWVudC1zaWRlLWFwcGx5EgZVcGRhdGUa',
    'FmNvb3JkaW5hdGlvbi5rOHMuaW8vdjEiCAib6JPYBhAAMghGaWVsZHNWMTqyAQqvAXsiZjptZXRhZGF0YSI6eyJmOmFubm90',
    'YXRpb25zIjp7Ii4iOnt9LCJmOmt1YmVjdGwua3ViZXJuZXRlcy5pby9sYXN0LWFwcGxpZWQtY29uZmlndXJhdGlvbiI6e319',
    'fSwiZjpzcGVjIjp7ImY6aG9sZGVySWRlbnRpdHkiOnt9LCJmOmxlYXNlRHVyYXRpb25TZWNvbmRzIjp7fSwiZjpyZW5ld1Rp',
    'bWUiOnt9fX1CABIRCgJtZRAPIgkIgPLWygYQ6AcaACIA',
  ]),
  entry('core/events/2jyyxixn61rl3wu6/default/ev2', [
    'azhzAAoLCgJ2MRIFRXZlbnQS+QYKlQYKA2V2MhIAGgdkZWZhdWx0IgAqJDBlZmE4MTlmLWZhZTEtNDVmYS1iZGVhLWFiYmVm',
    'NDBlZTFhNTIAOABCCAib6JPYBhAAYowDCjBrdWJlY3RsLmt1YmVybmV0ZXMuaW8vbGFzdC1hcHBsaWVkLWNvbmZpZ3VyYXRp',
    'b24S1wJ7ImFjdGlvbiI6IkRvIiwiYXBpVmVyc2lvbiI6ImV2ZW50cy5rOHMuaW8vdjEiLCJldmVudFRpbWUiOiIyMDI2LTAx',
    'LTAxVDAwOjAwOjAwLjAwMDAwMVoiLCJraW5kIjoiRXZlbnQiLCJtZXRhZGF0YSI6eyJhbm5vdGF0aW9ucyI6e30sIm5hbWUi',
    'OiJldjIiLCJuYW1lc3BhY2UiOiJkZWZhdWx0In0sIm5vdGUiOiJoZWxsbyIsInJlYXNvbiI6IkJlY2F1c2UiLCJyZWdhcmRp',
    'bmciOnsia2luZCI6IkNvbmZpZ01hcCIsIm5hbWUiOiJvbmUiLCJuYW1lc3BhY2UiOiJkZWZhdWx0In0sInJlcG9ydGluZ0Nv',
    'bnRyb2xsZXIiOiJ4LmlvL3kiLCJyZXBvcnRpbmdJbnN0YW5jZSI6InoiLCJ0eXBlIjoiTm9ybWFsIn0KigG8AgoZa3ViZWN0',
    'bC1jbGllbnQtc2lkZS1hcHBseRIGVXBkYXRlGhBldmVudHMuazhzLmlvL3YxIggIm+iT2AYQADIIRmllbGRzVjE67gEK6wF7',
    'ImY6YWN0aW9uIjp7fSwiZjpldmVudFRpbWUiOnt9LCJmOm1ldGFkYXRhIjp7ImY6YW5ub3RhdGlvbnMiOnsiLiI6e30sImY6',
    'a3ViZWN0bC5rdWJlcm5ldGVzLmlvL2xhc3QtYXBwbGllZC1jb25maWd1cmF0aW9uIjp7fX19LCJmOm5vdGUiOnt9LCJmOnJl',
    'YXNvbiI6e30sImY6cmVnYXJkaW5nIjp7fSwiZjpyZXBvcnRpbmdDb250cm9sbGVyIjp7fSwiZjpyZXBvcnRpbmdJbnN0YW5j',
    'ZSI6e30sImY6dHlwZSI6e319QgASIQoJQ29uZmlnTWFwEgdkZWZhdWx0GgNvbmUiACoAMgA6ABoHQmVjYXVzZSIFaGVsbG8q',
    'BAoAEgAyADoAQABKBk5vcm1hbFIJCIDy1soGEOgHYgJEb3IGeC5pby95egF6GgAiAA==',
  ]),
]
