import type { Item } from '../contract/item.ts'
import type { KubeObject } from '../meta/object.ts'
import { readResourceVersion, writeOptions } from '../query/options.ts'
import type { Answer } from '../request/response.ts'
import { readObject } from './body.ts'
import { answering, type Call, checkName, inNamespace, keyOf } from './call.ts'
import { checkUid, createdOr, unversioned, withRequiredVersion } from './createmissing.ts'
import { admitWrite, tracked, type ViewWrite } from './fieldtracking.ts'

/** PUT: replaces the object, or creates it where the kind allows that (rules.md 3.20 to 3.27). */
export async function update(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  const key = keyOf(call)
  const answer = answering(call)
  const { write, fieldValidation } = writeOptions('UpdateOptions', request)
  const object = inNamespace(await readObject(ctx, served, request, fieldValidation), call)
  checkName(object, key)
  readResourceVersion(object.metadata.resourceVersion)
  const { item, status } = await replaceOrCreate(call, { key, object, write })
  return answer(item, status)
}

async function replaceOrCreate(call: Call, replacement: ViewWrite): Promise<{ item: Item; status: number }> {
  const { resource, subresource } = call.served
  if (resource.createOnUpdate && subresource === '')
    return createdOr(
      () => replace(call, replacement),
      () => createMissing(call, replacement),
    )
  return { item: await replace(call, replacement), status: 200 }
}

function replace(call: Call, { key, object, write }: ViewWrite): Promise<Item> {
  const change = async ({ object: old }: Item): Promise<KubeObject> => {
    const next = withRequiredVersion(call, object)
    const admitted = await admitWrite(call, { key, object: next, old, write })
    return tracked(call, write.fieldManager, admitted, old)
  }
  return call.served.storage.update(call.ctx, key, change, write)
}

const noUid = (uid: string): string =>
  `Precondition failed: UID in precondition: ${uid}, UID in object meta: `

async function createMissing(call: Call, { key, object, write }: ViewWrite): Promise<Item> {
  checkUid(call.served, key, object, noUid)
  await call.scope.mayCreate()
  const sent = unversioned(object)
  const admitted = await admitWrite(call, { key, object: sent, write })
  const next = await tracked(call, write.fieldManager, admitted)
  return call.served.storage.create(call.ctx, key, next, write)
}
