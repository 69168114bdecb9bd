const sources = new WeakMap<Buffer, () => readonly Buffer[]>()

/** Notes the JSON that a part of a body in YAML encodes: the audit log has it, because to read YAML takes long. */
export function yamlPart(yaml: Buffer, json: () => readonly Buffer[]): Buffer {
  sources.set(yaml, json)
  return yaml
}

/** The JSON of a part of a body in YAML, in pieces; undefined for YAML that another server has written. */
export const jsonOfYaml = (yaml: Buffer): readonly Buffer[] | undefined => sources.get(yaml)?.()
