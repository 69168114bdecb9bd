import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** Beside the checkout, seen from the sources and from what they are compiled to. */
const folders = ['../..', '../../..'].map(up => join(import.meta.dirname, up, 'shared/data/crds'))

/** A CustomResourceDefinition that nobody here wrote; undefined where the folder is absent. */
export function foreignCrd<T>(file: string): T | undefined {
  const folder = folders.find(each => existsSync(join(each, file)))
  return folder === undefined ? undefined : (parse(readFileSync(join(folder, file), 'utf8')) as T)
}

export const httpRoutes = 'gateway.networking.k8s.io_httproutes.yaml'
