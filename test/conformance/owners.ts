import type { Answered, Reply, Sent } from '../support/client.ts'
import { merge } from './fixture.ts'

export type Fields = { readonly [element: string]: Fields }
export type Spec = Readonly<Record<string, unknown>>

export interface Entry {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  readonly time?: string
  readonly fieldsType: string
  readonly fieldsV1: Fields
  readonly subresource?: string
}

export const applyPatch = (body: object | string): Sent => ({
  method: 'PATCH',
  body,
  headers: { 'content-type': 'application/apply-patch+yaml' },
})
export const mergeBy = (agent: string, body: object): Sent => {
  const sent = merge(body)
  return { ...sent, headers: { ...sent.headers, 'user-agent': `${agent}/8` } }
}

export const entriesOf = (object: Answered): readonly Entry[] =>
  (object.metadata.managedFields ?? []) as unknown as readonly Entry[]

/** Field managers and their fields, without times: `m1 Apply` → fields. */
export const ownersOf = (object: Answered): Readonly<Record<string, Fields>> =>
  Object.fromEntries(
    entriesOf(object).map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(' '),
      fieldsV1,
    ]),
  )

export const spec = (fields: Fields): Fields => ({ 'f:spec': fields })
export const own: Fields = {}
export const item = (...fields: readonly string[]): Fields => ({
  '.': own,
  ...Object.fromEntries(fields.map(field => [`f:${field}`, own])),
})

/** Requests for the widgets of one namespace. */
export interface Widgets {
  readonly fresh: () => string
  readonly at: (name: string, sent?: Sent, query?: string) => Promise<Reply>
  /** Applies a spec as a manager. */
  readonly apply: (name: string, manager: string, fields: Spec, query?: string) => Promise<Reply>
  readonly create: (body: object) => Promise<Reply>
}
