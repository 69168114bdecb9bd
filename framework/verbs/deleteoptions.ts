import type { DeleteOptions, SentOptions } from '../contract/storage.ts'
import { badRequest, type FieldError } from '../meta/errors.ts'
import { booleanOf, dryRunErrors, integerOption, refuseOptions, unsupportedOption } from '../query/options.ts'
import type { VerbRequest } from '../request/response.ts'
import { jsonType } from '../wire/metadata.ts'
import { type BodyFormat, bodyFormat, bodyLimit, parseBody } from '../wire/parsebody.ts'
import { unregistered } from './body.ts'

/** DeleteOptions as they were sent, in the body or in the query. */
interface Sent {
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly dryRun: readonly string[]
  readonly uid?: string
  readonly resourceVersion?: string
  readonly gracePeriodSeconds?: number
}

export interface DeleteRequest {
  readonly options: DeleteOptions
  /** `orphanDependents=false` was sent: the answer is 202 when the object stays (rules.md 6.8). */
  readonly accepted: boolean
}

/** Reads DeleteOptions from the body if there is one, else from the query, never from both (rules.md 6.1). */
export async function readDeleteOptions(request: VerbRequest): Promise<DeleteRequest> {
  const body = await request.body(bodyLimit)
  const sent = body.length > 0 ? fromBody(await readMembers(request, body)) : fromQuery(request.query)
  refuseOptions('DeleteOptions', [...policyErrors(sent), ...dryRunErrors(sent.dryRun)])
  const propagation = propagationOf(sent)
  const options: DeleteOptions = {
    dryRun: sent.dryRun.length > 0,
    ...(sent.uid === undefined ? {} : { uid: sent.uid }),
    ...(sent.resourceVersion === undefined ? {} : { resourceVersion: sent.resourceVersion }),
    ...(propagation === undefined ? {} : { propagation }),
    asSent: asSent(sent),
  }
  return { options, accepted: sent.orphanDependents === false }
}

/** As admission sees the options (`meta.k8s.io/v1`). */
function asSent({ uid, resourceVersion, dryRun, ...sent }: Sent): SentOptions {
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
  return {
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...sent,
    ...(dryRun.length > 0 && { dryRun }),
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
  }
}

function fromQuery(query: URLSearchParams): Sent {
  const seconds = integerOption(query, 'gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = booleanOf(query, 'orphanDependents')
  const [uid, resourceVersion] = [query.get('uid'), query.get('resourceVersion')]
  return {
    dryRun: query.getAll('dryRun'),
    ...(uid === null || uid === '' ? {} : { uid }),
    ...(resourceVersion === null || resourceVersion === '' ? {} : { resourceVersion }),
    ...(seconds === undefined ? {} : { gracePeriodSeconds: seconds }),
    ...(policy === null || policy === '' ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
  }
}

type Members = Readonly<Record<string, unknown>>

function fromBody(members: Members): Sent {
  const kind = read(members, 'kind', 'string') ?? ''
  const version = read(members, 'apiVersion', 'string') ?? 'v1'
  if (kind !== '' && kind !== 'DeleteOptions') throw badRequest(unregistered(kind, version))
  const seconds = read(members, 'gracePeriodSeconds', 'number')
  const preconditions = preconditionsIn(members)
  const policy = read(members, 'propagationPolicy', 'string')
  const orphan = read(members, 'orphanDependents', 'bool')
  const uid = read(preconditions, 'uid', 'string')
  const resourceVersion = read(preconditions, 'resourceVersion', 'string')
  return {
    dryRun: dryRunOf(members.dryRun ?? []),
    ...(seconds === undefined ? {} : { gracePeriodSeconds: seconds }),
    ...(policy === undefined || policy === '' ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
}

const unreadable = "couldn't get version/kind; json parse error: "

/** null is read as an empty object. */
async function readMembers(request: VerbRequest, body: Buffer): Promise<Members> {
  const value = (await parsed(request, body, bodyFormat(request))) ?? {}
  if (jsonType(value) === 'object') return value as Members
  throw badRequest(
    `${unreadable}json: cannot unmarshal ${jsonType(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  )
}

async function parsed(request: VerbRequest, body: Buffer, format: BodyFormat): Promise<unknown> {
  try {
    const { value } = await parseBody(request, body, format)
    return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw badRequest(`${unreadable}${error.message}`)
  }
}

const mistyped = (value: unknown, field: string, type: string): Error =>
  badRequest(
    `json: cannot unmarshal ${jsonType(value)} into Go struct field DeleteOptions.${field} of type ${type}`,
  )

function preconditionsIn({ preconditions = {} }: Members): Members {
  if (jsonType(preconditions ?? {}) !== 'object')
    throw mistyped(preconditions, 'preconditions', 'v1.Preconditions')
  return (preconditions ?? {}) as Members
}

interface MemberTypes {
  readonly string: string
  readonly number: number
  readonly bool: boolean
}

const goTypes = { string: 'string', number: 'int64', bool: 'bool' } as const

function read<T extends keyof MemberTypes>(
  members: Members,
  field: string,
  type: T,
): MemberTypes[T] | undefined {
  const value = Object.hasOwn(members, field) ? (members[field] ?? undefined) : undefined
  if (value === undefined) return undefined
  if (jsonType(value) !== type) throw mistyped(value, field, goTypes[type])
  return value as MemberTypes[T]
}

function dryRunOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value
  throw mistyped(value, 'dryRun', '[]string')
}

const policies = ['Foreground', 'Background', 'Orphan'] as const

function policyErrors({ propagationPolicy: policy, orphanDependents }: Sent): readonly FieldError[] {
  if (policy === undefined) return []
  const field = 'propagationPolicy'
  if (orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set'
    return [{ type: 'FieldValueInvalid', field, value: policy, detail }]
  }
  return policies.some(known => known === policy)
    ? []
    : [unsupportedOption(field, policy, [...policies, 'nil'])]
}

function propagationOf({ propagationPolicy, orphanDependents }: Sent): DeleteOptions['propagation'] {
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background'
  return policies.find(known => known === propagationPolicy)
}
