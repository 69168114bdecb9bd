import type { Sent } from '../support/client.ts'

/** What a server last said of an object, for bodies that must repeat it: versions and uids differ from server to server. */
export interface Said {
  readonly resourceVersion: string
  readonly uid: string
}

/** One request of the corpus, with what it is about. */
export interface Step {
  /** For messages: `certificates: merge patch of c3`. */
  readonly about: string
  readonly path: string
  /** Where the object of this request lives; what the server says of it is remembered. */
  readonly object?: string
  /** The request, given what this server said of the object before. */
  readonly sent: (said: Said) => Sent
}

/** A resource that requests are made for. */
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
  /** A body beside metadata that is accepted. */
  accepted(): Readonly<Record<string, unknown>>
  /** A body with other fields, some of which may be refused. */
  random(): Readonly<Record<string, unknown>>
}

export const namespace = 'differential'
