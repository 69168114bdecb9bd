import type { Loader, Requests, Taken, Target } from '../outside/loader.ts'
import { configMap } from '../outside/measures.ts'

/** The path of ConfigMaps in the workspace root. */
export const inRoot = '/clusters/root/api/v1/namespaces/default/configmaps'

const connections = 64

/** ConfigMaps of 1 KiB with names that begin with `name`, by 64 connections. */
export const creates = (path: string, name: string, count: number): Requests => ({
  method: 'POST',
  paths: [path],
  body: configMap(`${name}-%d`),
  contentType: 'application/json',
  workers: connections,
  count,
})

/** GETs of the ConfigMaps that `creates` has made. */
export const gets = (path: string, name: string, count: number): Requests => ({
  method: 'GET',
  paths: Array.from({ length: count }, (_, i) => `${path}/${name}-${i}`),
  workers: connections,
  count: 3 * count,
})

/** Reads the namespace until it is there: a new server makes it after its start. */
export const whenReady = (loader: Loader, target: Target, path: string): Promise<Taken> => {
  const until = path.slice(0, path.indexOf('/namespaces/') + '/namespaces'.length)
  const requests = { method: 'GET', paths: [until], workers: 1, count: 1, until } as const
  return loader.run({ target, requests: { ...requests, untilHas: '"name":"default"' } })
}

/** A number from an environment variable. */
export const numberFrom = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)
