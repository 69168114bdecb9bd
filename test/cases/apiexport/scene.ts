import assert from 'node:assert/strict'
import { eventually } from '../../support/oriel.ts'
import { masters, type People, type Told } from '../../support/people.ts'
import { createWorkspaces, type Tenant } from '../../support/tenants.ts'
import type { WireRequest } from '../../support/wire.ts'

export type Who = Parameters<People['as']>[0]

interface Groups {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[]
}
interface Resources {
  readonly resources: readonly { readonly name: string }[]
}

/** The state of the cases on one server. */
export type Scene = ReturnType<typeof createScene>

export function createScene(people: People) {
  let count = 0
  /** Workspaces of this case only. */
  async function workspaces(...names: readonly string[]): Promise<readonly Tenant[]> {
    count++
    return createWorkspaces(
      people.oriel,
      names.map(name => `${name}-${count}`),
    )
  }

  const get = (who: Who, path: string, wanted: WireRequest = {}): Promise<Told> =>
    people.as(who)(path, wanted)
  const post = (path: string, made: object, who: Exclude<Who, undefined> = masters) =>
    people.post(who, path, made)
  const send = (method: string, path: string, body: object, type = 'application/json', who: Who = masters) =>
    get(who, path, { method, body: JSON.stringify(body), headers: { 'content-type': type } })
  const applied = (path: string, body: object, who: Who = masters) =>
    send('PATCH', `${path}?fieldManager=test`, body, 'application/apply-patch+yaml', who)
  const namesAt = async (path: string, who: Who = masters): Promise<readonly string[]> => {
    const told = await get(who, path)
    assert.equal(told.status, 200, told.body)
    return (told.json().items ?? []).map(({ metadata }) => metadata.name).sort()
  }
  const becomes = (path: string, names: readonly string[], who: Who = masters) =>
    eventually(
      () => namesAt(path, who).catch(() => undefined),
      found => JSON.stringify(found) === JSON.stringify(names),
    )
  /** `<plural>.<group>` of all resources in discovery, without subresources. */
  async function discovered(base: string): Promise<readonly string[]> {
    const read = async <T>(path: string): Promise<T> => (await get(masters, base + path)).json<T>()
    const { groups } = await read<Groups>('/apis')
    const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]
    const found = versions.map(async version => {
      const [group = ''] = version.includes('/') ? version.split('/') : ['']
      const { resources } = await read<Resources>(`/${group === '' ? 'api' : 'apis'}/${version}`)
      return resources.flatMap(({ name }) => (name.includes('/') ? [] : [`${name}.${group}`]))
    })
    return (await Promise.all(found)).flat()
  }

  return { people, workspaces, get, post, send, applied, namesAt, becomes, discovered }
}
