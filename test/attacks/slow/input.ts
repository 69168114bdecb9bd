/** One request of an input. */
export interface Step {
  readonly method: string
  readonly path: string
  /** The media type of the body. */
  readonly type?: string
  readonly accept?: string
  readonly body?: string
}

/** Requests that are sent one after the other. Mutations keep the name, which says what is tried. */
export interface Input {
  readonly name: string
  readonly steps: readonly Step[]
}
