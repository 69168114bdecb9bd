import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import { invalid } from '../../../framework/meta/errors.ts'
import { groupResource, type KubeObject, versionIn } from '../../../framework/meta/object.ts'
import { compileCached } from '../../../openapi/compile.ts'
import { kindsByName } from '../../../openapi/definitions/definition.ts'
import { kcpKinds } from '../../../openapi/definitions/kcp/index.ts'
import type { RegistryPlugin } from '../chain.ts'

const kinds = kindsByName(kcpKinds)

/**
 * Refuses values of the wrong type in the kinds of kcp before other plugins read them: 422, with the errors of schema
 * validation. kcp's plugins decode into Go types instead, and answer 500 (`runtime.DefaultUnstructuredConverter`).
 */
export const fieldTypes: RegistryPlugin = {
  name: 'kcp.io/FieldTypes',
  handles: { operations: ['CREATE', 'UPDATE'], resources: [...kinds.keys()] },
  async mutate(_ctx, request) {
    await checkTypes(request, request.object)
    return request.object
  },
}

async function checkTypes(request: AdmissionAttributes, object: KubeObject): Promise<void> {
  const kind = kinds.get(groupResource(request.group, request.resource))
  const version = kind?.versions.find(({ name }) => name === versionIn(object.apiVersion))
  if (kind === undefined || version === undefined) return
  const schema = compileCached(version.schema)
  const sent = written(request, version.status, object)
  const steps = schema.validateSteps(sent, request.old, { mayRepeat: true, withoutRules: true })
  const errors = await inTurns(steps, new Pace())
  if (!errors.some(({ type }) => type === 'FieldValueTypeInvalid')) return
  const { name = '' } = object.metadata
  throw invalid(kind.names.kind, kind.group, name, schema.validate(sent, request.old))
}

/** The object without the status that a create drops. */
function written({ operation }: AdmissionAttributes, hasStatus: boolean, object: KubeObject): KubeObject {
  if (operation !== 'CREATE' || !hasStatus) return object
  const { status: _, ...rest } = object
  return rest as KubeObject
}
