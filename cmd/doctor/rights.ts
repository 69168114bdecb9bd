import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { type Finding, failed, ok } from './finding.ts'
import { jsonOf, probe } from './probe.ts'

/** Checks the permissions that a process of views needs. */
export async function rightsFindings(access: ServerAccess): Promise<readonly Finding[]> {
  const { origin } = new URL(access.server)
  return [await wildcard(access, origin), await impersonation(access, origin), await reviews(access, origin)]
}

const change = 'use credentials in the group system:masters, in kcp the context shard-base or system:admin'

async function wildcard(access: ServerAccess, origin: string): Promise<Finding> {
  const url = `${origin}/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters?limit=1`
  const { status } = await probe(access, url)
  return status === 200
    ? ok('wildcard', 'the credentials read all logical clusters')
    : failed('wildcard', `the credentials may not read all logical clusters: ${status}`, change)
}

/** Views impersonate the users of requests. */
async function impersonation(access: ServerAccess, origin: string): Promise<Finding> {
  const headers = { 'impersonate-user': 'oriel-doctor', 'impersonate-group': 'system:authenticated' }
  const seen = await probe(access, `${origin}/clusters/root/api/v1/namespaces?limit=1`, { headers })
  const { message = '' } = jsonOf<{ message: string }>(seen)
  const acts = seen.status === 200 || (seen.status === 403 && message.includes('"oriel-doctor"'))
  return acts && !/cannot impersonate/.test(message)
    ? ok('impersonation', 'the credentials may impersonate users')
    : failed('impersonation', `the credentials may not impersonate users: ${seen.status}`, change)
}

async function reviews(access: ServerAccess, origin: string): Promise<Finding> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: 'oriel-doctor', nonResourceAttributes: { path: '/', verb: 'access' } },
  }
  const url = `${origin}/clusters/root/apis/authorization.k8s.io/v1/subjectaccessreviews`
  const { status } = await probe(access, url, { body })
  return status === 201
    ? ok('reviews', 'the credentials may create subjectaccessreviews')
    : failed('reviews', `the credentials may not create subjectaccessreviews: ${status}`, change)
}
