import assert from 'node:assert/strict'
import { memoryStorage } from '../../../test/support/storage/memorystorage.ts'
import { ask, jsonOf, widget, widgets } from '../../../test/support/widgets.ts'
import type { ApiResource } from '../../contract/apis.ts'
import { StatusError } from '../../meta/errors.ts'
import type { KubeObject } from '../../meta/object.ts'
import type { Lens } from '../lens.ts'
import { viewOf } from '../view.ts'

export const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' }

export const visible = (name: string): KubeObject => widget(name, { color: 'red' }, { labels: { app: 'x' } })

export const hidden = (name: string): KubeObject => widget(name, { color: 'blue' }, { labels: { app: 'y' } })

interface Scene {
  readonly all: ApiResource
  readonly seen: ApiResource
}

export async function scene(lens: Lens): Promise<Scene> {
  const storage = memoryStorage(kind)
  const all = widgets(storage, { unconditionalUpdate: true })
  for (const body of [visible('a'), hidden('b')]) await ask(all, { verb: 'create', body })
  return { all, seen: { ...all, storage: viewOf(storage, () => lens) } }
}

export const code = async (run: Promise<unknown>): Promise<number> => {
  const error = await run.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error === undefined) return 200
  assert.ok(error instanceof StatusError, String(error))
  return error.code
}

export const namesIn = async (resource: ApiResource): Promise<unknown> =>
  ((await jsonOf(ask(resource, { verb: 'list' }))).items as KubeObject[]).map(item => item.metadata.name)

export const merge = { 'content-type': 'application/merge-patch+json' }
