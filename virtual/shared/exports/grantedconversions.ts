import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../framework/index.ts'
import { type ClaimedWrite, hasAll, refusedGrant } from './given.ts'

interface DefinitionSpec {
  readonly group: string
  readonly names: { readonly plural: string }
  readonly conversion?: { readonly strategy?: string }
}

const specOf = (object: KubeObject): DefinitionSpec => object.spec as DefinitionSpec

/** A conversion webhook gets all objects of its kind, and answers what they are: a provider names one only for objects that its claims let it read and change. */
export async function checkConversion(write: ClaimedWrite): Promise<void> {
  const { object, old } = write.request
  const { group, names, conversion } = specOf(object)
  const isKnown = old !== undefined && isDeepStrictEqual(conversion, specOf(old).conversion)
  if (conversion?.strategy !== 'Webhook' || isKnown) return
  if (await hasAll(write, ['get', 'list', 'update'], { group, resource: names.plural })) return
  throw refusedGrant(
    write,
    'spec.conversion: a webhook reads and changes the objects that it converts: it needs a permission claim to get, list and update all of them',
  )
}
