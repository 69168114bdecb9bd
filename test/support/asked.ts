import assert from 'node:assert/strict'
import type { ApiResource } from '../../framework/contract/apis.ts'
import { type Status, StatusError } from '../../framework/meta/errors.ts'
import { memoryStorage } from './storage/memorystorage.ts'
import { type Asked, ask, jsonOf, type Told, widget, widgets } from './widgets.ts'

const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' }
/** Widgets in memory, empty. */
export const fresh = (more: Partial<ApiResource> = {}): ApiResource => widgets(memoryStorage(kind), more)

/** Red widgets with these names. */
export async function filled(...names: readonly string[]): Promise<ApiResource> {
  const resource = fresh()
  for (const name of names) await ask(resource, { verb: 'create', body: widget(name, { color: 'red' }) })
  return resource
}

export async function refusal(resource: ApiResource, asked: Asked): Promise<Status & { code: number }> {
  const error = await ask(resource, asked).then(
    () => assert.fail('was not refused'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof StatusError, String(error))
  return error.status
}

/** Expects a refusal with this code and message. */
export async function refuses(
  resource: ApiResource,
  asked: Asked,
  code: number,
  message: string | RegExp,
): Promise<void> {
  const status = await refusal(resource, asked)
  assert.equal(status.code, code, status.message)
  if (typeof message === 'string') assert.equal(status.message, message)
  else assert.match(status.message ?? '', message)
}

export const specOf = async (answer: Told | Promise<Told>): Promise<unknown> => (await jsonOf(answer)).spec
export const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
export const partial = (as: string): string => `application/json;as=${as};v=v1;g=meta.k8s.io`
