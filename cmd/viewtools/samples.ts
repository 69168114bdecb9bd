/** One value of a metric. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** The samples of the text format of Prometheus whose names begin with `prefix`. */
export const samplesOf = (text: string, prefix: string): readonly Sample[] =>
  text.split('\n').flatMap(each => {
    const [, name = '', labels = '', value = ''] = each.startsWith(prefix) ? (line.exec(each) ?? []) : []
    return name === '' ? [] : [{ name, labels: labelsIn(labels), value: Number(value) }]
  })

const labelsIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...text.matchAll(label)].map(([, name = '', value = '']) => [name, unescaped(value)]))

const unescaped = (value: string): string =>
  value.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
