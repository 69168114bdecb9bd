import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../../test/support/client.ts'
import type { Oriel } from '../../test/support/oriel.ts'
import { configAt } from '../../test/support/watcher.ts'
import { Loader, type Target } from '../outside/loader.ts'
import { creates, inRoot, numberFrom } from './objects.ts'

const watchers = numberFrom('REPLICAS_WATCHERS', 300)
const events = 300

async function targetAt(oriel: Oriel): Promise<Target> {
  const token = configAt(oriel, oriel.url).getCurrentUser()?.token ?? ''
  return { url: oriel.url, ca: await readFile(join(oriel.directory, 'ca.crt'), 'utf8'), token, http2: false }
}

let fans = 0

/**
 * Events per second at all watchers together, which are divided among the servers: each of 300 objects is created at the first
 * server, and seen by every watcher at every server.
 */
export async function fanOut(
  directory: string,
  servers: readonly Oriel[],
  [client]: readonly Client[],
): Promise<number> {
  const version = (await client?.(`${inRoot}?limit=1`))?.json().metadata.resourceVersion ?? ''
  const watched = `${inRoot}?watch=1&resourceVersion=${version}`
  const watches = Math.floor(watchers / servers.length)
  const name = `fan-${fans++}`
  const loaders = servers.map(() => new Loader(directory))
  const taken = await Promise.all(
    loaders.map(async (loader, i) => {
      const target = await targetAt(servers[i] as Oriel)
      // A loader counts as many events as its requests: those of the other servers only read.
      const requests =
        i === 0
          ? creates(inRoot, name, events)
          : ({ method: 'GET', paths: [`${inRoot}/read`], workers: 1, count: events } as const)
      return loader.run({ target, requests, watches, watched })
    }),
  )
  await Promise.all(loaders.map(loader => loader.stop()))
  const slowest = Math.max(...taken.map(({ delivered }) => delivered))
  return (watches * servers.length * events) / slowest
}
