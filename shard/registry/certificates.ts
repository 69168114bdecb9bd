import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue, repeated, required, unsupported } from '../../framework/meta/fielderror.ts'
import { dns1123SubdomainErrors } from '../../framework/meta/names.ts'
import { type KubeObject, timestamp } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import type { KindStrategy } from './strategy.ts'

interface Condition {
  readonly type: string
  readonly status?: string
  readonly lastUpdateTime?: string
  readonly lastTransitionTime?: string
}

/** `certificates.k8s.io/v1 CertificateSigningRequest`. */
interface SigningRequest extends KubeObject {
  readonly spec?: {
    readonly request?: string
    readonly signerName?: string
    readonly usages?: readonly string[]
    readonly expirationSeconds?: number
  }
  readonly status?: { readonly certificate?: string; readonly conditions?: readonly Condition[] }
}

const decisions = ['Approved', 'Denied']
const final = [...decisions, 'Failed']
const allUsages = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign'],
  ...['data encipherment', 'decipher only', 'digital signature', 'email protection', 'encipher only'],
  ...['ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc'],
  ...['netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', 'timestamping'],
]

const conditionsOf = (object: KubeObject): readonly Condition[] =>
  (object as SigningRequest).status?.conditions ?? []
const ofType = (object: KubeObject, type: string): readonly Condition[] =>
  conditionsOf(object).filter(condition => condition.type === type)
const certificateOf = (object: KubeObject): string => (object as SigningRequest).status?.certificate ?? ''

/**
 * Sets the requester to the user of the request; an update keeps the spec
 * (`pkg/registry/certificates/certificates/strategy.go`).
 */
function prepareRequest(object: KubeObject, old?: KubeObject, author?: UserInfo): KubeObject {
  if (old !== undefined) return { ...object, spec: old.spec }
  const spec = object.spec as Record<string, unknown>
  const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...asked } = spec
  return { ...object, spec: { ...asked, ...requester(author) } }
}

const requester = (author: UserInfo | undefined): object =>
  author === undefined
    ? {}
    : {
        username: author.name,
        ...(author.uid ? { uid: author.uid } : {}),
        groups: author.groups,
        ...(author.extra === undefined ? {} : { extra: author.extra }),
      }

const withConditions = (object: KubeObject, conditions: readonly Condition[]): KubeObject => ({
  ...object,
  status: {
    ...(object.status as object | undefined),
    ...(conditions.length === 0 ? {} : { conditions }),
  },
})

/** Sets missing times of conditions: lastTransitionTime is kept while the status is the same. */
function timed(object: KubeObject, old: KubeObject): KubeObject {
  const now = timestamp()
  const since = ({ type, status }: Condition): string =>
    ofType(old, type).find(before => before.status === status)?.lastTransitionTime ?? now
  const withTimes = (condition: Condition): Condition => ({
    ...condition,
    lastUpdateTime: condition.lastUpdateTime ?? now,
    lastTransitionTime: condition.lastTransitionTime ?? since(condition),
  })
  return withConditions(object, conditionsOf(object).map(withTimes))
}

/** `/status` keeps Approved and Denied conditions; added or removed ones are refused. */
function prepareStatus(object: KubeObject, old: KubeObject): KubeObject {
  const kept = decisions.flatMap(type => {
    const [before, now] = [ofType(old, type), ofType(object, type)]
    return before.length === now.length ? before : now
  })
  const conditions = conditionsOf(object).map(
    condition => kept.find(({ type }) => type === condition.type) ?? condition,
  )
  return timed(withConditions(object, conditions), old)
}

/** `/approval` writes the conditions of the status only. */
function prepareApproval(object: KubeObject, old: KubeObject): KubeObject {
  const { conditions: _, ...rest } = (old as SigningRequest).status ?? {}
  return timed(withConditions({ ...object, status: rest }, conditionsOf(object)), old)
}

const shortest = 600

/**
 * `ValidateCertificateSigningRequestCreate` of Kubernetes without parsing the certificate request; required fields are
 * checked by the schema.
 */
function requestErrors(object: KubeObject): readonly FieldError[] {
  const { request, signerName, usages = [], expirationSeconds } = (object as SigningRequest).spec ?? {}
  const isRequest = request === undefined || pemType(request) === 'CERTIFICATE REQUEST'
  const detail = `may not specify a duration less than ${shortest} seconds (10 minutes)`
  return [
    ...(isRequest
      ? []
      : [invalidValue('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST')]),
    ...usageErrors(usages),
    ...(signerName === undefined ? [] : signerErrors(signerName)),
    ...(expirationSeconds === undefined || expirationSeconds >= shortest
      ? []
      : [invalidValue('spec.expirationSeconds', expirationSeconds, detail)]),
  ]
}

const pemType = (base64: string): string | undefined =>
  /-----BEGIN ([^-]+)-----/.exec(Buffer.from(base64, 'base64').toString())?.[1]

function usageErrors(usages: readonly string[]): readonly FieldError[] {
  if (usages.length === 0) return [required('spec.usages')]
  const at = (i: number): string => `spec.usages[${i}]`
  return [
    ...usages.flatMap((usage, i) =>
      allUsages.includes(usage) ? [] : [unsupported(at(i), usage, allUsages)],
    ),
    ...repeated(usages, at),
  ]
}

function signerErrors(signerName: string): readonly FieldError[] {
  const wrong = (value: string, detail: string): FieldError => invalidValue('spec.signerName', value, detail)
  if (signerName === '') return [required('spec.signerName')]
  const [domain = '', path, ...more] = signerName.split('/')
  if (path === undefined || more.length > 0)
    return [
      wrong(signerName, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ]
  const labels = path.split('.')
  return [
    ...dns1123SubdomainErrors(domain).map(problem => wrong(domain, problem)),
    ...labels.flatMap(label =>
      dns1123SubdomainErrors(label).map(problem =>
        wrong(path, `validating label ${JSON.stringify(label)}: ${problem}`),
      ),
    ),
  ]
}

const truth = ['True']
const truths = ['False', 'True', 'Unknown']

/** A missing status is reported by the schema. */
function truthErrors(
  path: string,
  status: string | undefined,
  allowed: readonly string[],
): readonly FieldError[] {
  if (status === undefined) return []
  if (status === '') return [required(path)]
  return allowed.includes(status) ? [] : [unsupported(path, status, allowed)]
}

function conditionErrors(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const each = conditionsOf(object).flatMap(({ type, status }, i) =>
    truthErrors(`status.conditions[${i}].status`, status, final.includes(type) ? truth : truths),
  )
  const again = repetitions(old).length > 0 ? [] : repetitions(object)
  return [...each, ...bothErrors(object, old), ...again]
}

const repetitions = (object: KubeObject): readonly FieldError[] =>
  repeated(
    conditionsOf(object).map(({ type }) => type),
    i => `status.conditions[${i}].type`,
  )

function bothErrors(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const isBoth = (request: KubeObject): boolean => decisions.every(type => ofType(request, type).length > 0)
  if (!isBoth(object) || isBoth(old)) return []
  const last = conditionsOf(object).findLast(({ type }) => decisions.includes(type))?.type
  return [invalidValue('status.conditions', last, 'Approved and Denied conditions are mutually exclusive')]
}

const removed = (object: KubeObject, old: KubeObject): readonly FieldError[] =>
  final
    .filter(type => ofType(object, type).length < ofType(old, type).length)
    .map(type => forbidden('status.conditions', `updates may not remove a condition of type "${type}"`))

const added = (object: KubeObject, old: KubeObject): readonly FieldError[] =>
  decisions
    .filter(type => ofType(object, type).length > ofType(old, type).length)
    .map(type => forbidden('status.conditions', `updates may not add a condition of type "${type}"`))

function certificateErrors(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const [next, before] = [certificateOf(object), certificateOf(old)]
  if (isDeepStrictEqual(next, before)) return []
  if (before !== '')
    return [forbidden('status.certificate', 'updates may not modify existing certificate content')]
  const type = pemType(next)
  if (type === 'CERTIFICATE') return []
  const text =
    type === undefined
      ? 'must contain at least one CERTIFICATE PEM block'
      : `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
  return [invalidValue('status.certificate', '<certificate data>', text)]
}

/** The REST strategy of CertificateSigningRequest, in addition to that of all built-in kinds. */
export const signingRequestRules: Partial<KindStrategy> = {
  prepare: prepareRequest,
  validate: requestErrors,
  parts: {
    status: {
      prepare: prepareStatus,
      validate: (object, old) => [
        ...conditionErrors(object, old),
        ...removed(object, old),
        ...added(object, old),
        ...certificateErrors(object, old),
      ],
    },
    approval: {
      prepare: prepareApproval,
      validate: (object, old) => [...conditionErrors(object, old), ...removed(object, old)],
    },
  },
}
