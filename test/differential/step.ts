import type { Sent } from '../support/client.ts'

/** The last state of an object on a server, for bodies that must repeat it: versions and uids differ between servers. */
export interface Said {
  readonly resourceVersion: string
  readonly uid: string
}

/** One request of the corpus, and its object. */
export interface Step {
  /** For messages: `certificates: merge patch of c3`. */
  readonly about: string
  readonly path: string
  /** The path of the object of this request; its state is stored. */
  readonly object?: string
  /** The request, for the last state of the object on this server. */
  readonly sent: (said: Said) => Sent
}

/** A resource of the corpus. */
export interface Subject {
  readonly kind: string
  readonly apiVersion: string
  /** The collection in the namespace of the corpus. */
  readonly collection: string
  readonly namespaced: boolean
  /** Served by a CustomResourceDefinition. */
  readonly isCustom: boolean
  /** Whether there is `/status`. */
  readonly hasStatus: boolean
  /** A valid body without metadata. */
  accepted(): Readonly<Record<string, unknown>>
  /** A body with other fields, some of which may be refused. */
  random(): Readonly<Record<string, unknown>>
}

export const namespace = 'differential'
