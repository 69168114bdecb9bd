import { Pace } from '../async/awaitable.ts'
import { aboutOf } from '../contract/apis.ts'
import { methodNotAllowed, methodNotSupported } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import { withoutSystemFields } from '../meta/objectmeta.ts'
import { writeOptions } from '../query/options.ts'
import type { Answer } from '../request/response.ts'
import { readObject } from './body.ts'
import { answering, type Call, checkScope, inNamespace, namespaceOf } from './call.ts'
import { admitWrite, tracked } from './fieldtracking.ts'

/** POST to a collection, or to a subresource such as `token` of a named object. Answers 201. */
export async function create(call: Call): Promise<Answer> {
  const { ctx, served, request } = call
  checkTarget(call)
  const answer = answering(call)
  const { write, fieldValidation } = writeOptions('CreateOptions', request)
  const sent = inNamespace(await readObject(ctx, served, request, fieldValidation), call)
  const pace = new Pace()
  const key = keyFor(sent, call)
  const fresh = keepsSystemFields(call, sent) ? sent : withoutSystemFields(sent)
  const admitted = await admitWrite(call, { key, object: fresh, write })
  const object = await tracked(call, write.fieldManager, admitted)
  await pace.due()
  const item = await served.storage.create(ctx, key, object, write)
  return answer(item, 201)
}

/** A subresource compares them with those of its object: the uid of a TokenRequest is a precondition. */
const keepsSystemFields = ({ served }: Call, sent: KubeObject): boolean =>
  served.subresource !== '' || served.resource.keepsSystemFields?.(sent) === true

function checkTarget(call: Call): void {
  checkScope(call)
  const { info, served } = call
  const isNamed = info.name !== ''
  if (isNamed === (served.subresource !== '')) return
  throw served.resource.custom ? methodNotSupported(aboutOf(served), info.verb) : methodNotAllowed()
}

/** The name of a new object is in its body, and that of a subresource's parent in the path; '' leaves it to `generateName`. */
function keyFor(object: KubeObject, call: Call): ObjectKey {
  const { ctx, info } = call
  const name = info.name === '' ? (object.metadata.name ?? '') : info.name
  return { cluster: ctx.cluster, namespace: namespaceOf(call), name }
}
