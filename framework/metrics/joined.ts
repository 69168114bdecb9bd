/** The metric families of a text, in order: the lines of `# HELP` and `# TYPE`, and the samples. */
interface Family {
  readonly head: string[]
  readonly samples: string[]
}

/**
 * The metrics of several processes as one text in the format of Prometheus: each sample has the label `replica`, by the
 * position of its text from 1 on.
 */
export function joinMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>()
  for (const [i, text] of texts.entries()) addText(families, text, i + 1)
  return [...families.values()].flatMap(({ head, samples }) => [...head, ...samples, '']).join('\n')
}

function addText(families: Map<string, Family>, text: string, replica: number): void {
  let current: Family | undefined
  for (const line of text.split('\n')) {
    const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? []
    if (name !== undefined) {
      const known = families.get(name)
      current = known ?? { head: [], samples: [] }
      if (known === undefined) families.set(name, current)
      addHead(current, line)
    } else if (line !== '') current?.samples.push(labeled(line, replica))
  }
}

/** A family that a later process has, too, has its lines already. */
function addHead({ head }: Family, line: string): void {
  const kind = line.slice(0, '# HELP'.length)
  if (!head.some(each => each.startsWith(kind))) head.push(line)
}

/** `name{a="b"} 1` with the label `replica`. */
const labeled = (sample: string, replica: number): string =>
  sample.replace(/^([\w:]+)(?:\{(.*)\})? /, (_, name: string, labels?: string) => {
    const more = labels === undefined || labels === '' ? '' : `,${labels}`
    return `${name}{replica="${replica}"${more}} `
  })
