/** One thing that does not fit its type. `path` is printed in front: `.spec.ports[name="a"]`. */
export interface Misfit {
  readonly path: string
  readonly text: string
}

/** A value that does not fit its type, in the words of Kubernetes. */
export class TypedError extends Error {
  constructor(misfits: readonly Misfit[]) {
    super(textOf(misfits))
  }
}

function textOf(misfits: readonly Misfit[]): string {
  const texts = misfits.map(({ path, text }) => (path === '' ? text : `${path}: ${text}`))
  return texts.length === 1 ? texts.join('') : ['errors:', ...texts.map(text => `  ${text}`)].join('\n')
}
