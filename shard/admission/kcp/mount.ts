import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { isPrivileged } from '../../../framework/request/user.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { type Mount, mountOf } from '../../controllers/mounts/mountref.ts'
import { concerns, refused } from './refusal.ts'

/** What a mounted workspace may say, and that it never changes (chapter 30, section 4.3). */
export const mountAdmission: AdmissionPlugin = {
  name: 'tenancy.kcp.io/WorkspaceMount',
  handles: { resources: ['workspaces.tenancy.kcp.io'] },
  validate(ctx, request) {
    if (!concerns(request, 'workspaces.tenancy.kcp.io', ['CREATE', 'UPDATE'])) return
    const mount = mountOf(request.object as Workspace)
    const problem =
      request.operation === 'CREATE'
        ? mount && apiVersionProblem(mount)
        : changeProblem(request, isPrivileged(ctx.actAs))
    if (problem !== undefined) throw refused(request, problem)
  },
}

const groupVersion = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?v[0-9]+((alpha|beta)[0-9]+)?$/

const apiVersionProblem = ({ ref }: Mount): string | undefined =>
  groupVersion.test(ref.apiVersion)
    ? undefined
    : 'spec.mount.apiVersion must be a version, or a group and a version'

function changeProblem({ object, old }: AdmissionAttributes, privileged: boolean): string | undefined {
  const [before, next] = [mountOf(old as Workspace), mountOf(object as Workspace)]
  if (before === undefined && next === undefined) return undefined
  if (before === undefined || next === undefined) return 'spec.mount is immutable'
  for (const field of ['kind', 'name', 'namespace', 'apiVersion'] as const) {
    if ((before.ref[field] ?? '') !== (next.ref[field] ?? '')) return `spec.mount.${field} is immutable`
  }
  if ((before.type ?? '') !== (next.type ?? '')) return 'spec.mount.type is immutable'
  if ((object as Workspace).spec?.type !== undefined && !privileged)
    return 'spec.type cannot be set for mounted workspaces'
  return undefined
}
