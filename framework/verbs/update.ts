import { itemAnswer } from '../answers.ts'
import { readObject } from '../body.ts'
import { admit, type Call, checkName, inNamespace, keyOf } from '../call.ts'
import { conflict, invalid, StatusError } from '../errors.ts'
import type { Answer } from '../exchange.ts'
import { objectForm } from '../forms.ts'
import type { Item } from '../item.ts'
import { negotiate } from '../negotiation.ts'
import type { KubeObject, ObjectKey } from '../object.ts'
import { checkResourceVersion, writeOptions } from '../options.ts'
import { aboutOf } from '../served.ts'
import type { WriteOptions } from '../storage.ts'

/** PUT: replaces the object; creates it where the kind allows that (chapter 40, section 3.3). */
export async function update(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  const key = keyOf(call)
  const how = negotiate(request, 'objects')
  const form = objectForm(served, how, request.query)
  const { write, fieldValidation } = writeOptions(
    'UpdateOptions',
    request.query,
    request.headers['user-agent'] ?? '',
  )
  const object = inNamespace(await readObject(ctx, served, request, fieldValidation), call)
  checkName(object, key)
  checkResourceVersion(object.metadata.resourceVersion ?? '')
  const { item, status } = await replaceOrCreate(call, { key, object, write })
  return itemAnswer(item, form, how, status)
}

interface Replacement {
  readonly key: ObjectKey
  readonly object: KubeObject
  readonly write: WriteOptions
}

async function replaceOrCreate(
  call: Call,
  replacement: Replacement,
): Promise<{ item: Item; status: number }> {
  try {
    return { item: await replace(call, replacement), status: 200 }
  } catch (error) {
    const isMissing = error instanceof StatusError && error.code === 404
    if (!isMissing || !call.served.resource.createOnUpdate || call.served.subresource !== '') throw error
    return { item: await createMissing(call, replacement), status: 201 }
  }
}

function replace(call: Call, { key, object, write }: Replacement): Promise<Item> {
  const change = (current: Item): Promise<KubeObject> => {
    requireVersion(call, object)
    return admit(call, { operation: 'UPDATE', object, old: current.object, dryRun: write.dryRun })
  }
  return call.served.storage.update(call.ctx, key, change, write)
}

/** Last write wins only where the kind says so (chapter 40, rule 3.22). */
function requireVersion({ served }: Call, object: KubeObject): void {
  const { resourceVersion = '', name = '' } = object.metadata
  if (served.resource.unconditionalUpdate || resourceVersion !== '') return
  throw invalid(served.kind, served.group, name, [
    {
      type: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      value: 0,
      detail: 'must be specified for an update',
    },
  ])
}

async function createMissing(call: Call, { key, object, write }: Replacement): Promise<Item> {
  const { uid = '' } = object.metadata
  if (uid !== '') {
    throw conflict(
      aboutOf(call.served, key.name),
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    )
  }
  const admitted = await admit(call, { operation: 'CREATE', object, dryRun: write.dryRun })
  return call.served.storage.create(call.ctx, key, admitted, write)
}
