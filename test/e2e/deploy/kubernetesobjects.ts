import * as client from '@kubernetes/client-node'

interface Attribute {
  readonly baseName: string
  readonly type: string
}

interface Model {
  getAttributeTypeMap(): readonly Attribute[]
}

const modelOf = (type: string): Model | undefined =>
  (client as unknown as Readonly<Record<string, Model | undefined>>)[type]

const primitives: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: value => typeof value === 'string',
  number: value => typeof value === 'number',
  boolean: value => typeof value === 'boolean',
  IntOrString: value => typeof value === 'number' || typeof value === 'string',
}

/** The fields of an object that Kubernetes does not know, or that have another type, by the types of its client. */
export function problemsOf(value: unknown, type: string, path = type): readonly string[] {
  const [, item] = /^Array<(.*)>$/.exec(type) ?? []
  if (item !== undefined)
    return Array.isArray(value)
      ? value.flatMap((each, i) => problemsOf(each, item, `${path}[${i}]`))
      : [`${path} is no list`]
  const [, values] = /^\{ \[key: string\]: (.*); \}$/.exec(type) ?? []
  if (values !== undefined)
    return Object.entries(value as object).flatMap(([key, each]) =>
      problemsOf(each, values, `${path}.${key}`),
    )
  const is = primitives[type]
  if (is !== undefined) return is(value) ? [] : [`${path} is no ${type}`]
  const model = modelOf(type)
  return model === undefined ? [`${path}: unknown type ${type}`] : fieldProblems(value, model, path)
}

function fieldProblems(value: unknown, model: Model, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${path} is no object`]
  const attributes = new Map(model.getAttributeTypeMap().map(each => [each.baseName, each.type]))
  return Object.entries(value).flatMap(([name, each]) => {
    const type = attributes.get(name)
    return type === undefined ? [`${path}.${name} is unknown`] : problemsOf(each, type, `${path}.${name}`)
  })
}
