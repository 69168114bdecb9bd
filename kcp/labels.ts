import { createHash } from 'node:crypto'
import type { ClaimedResource } from './claims.ts'
import type { ExportReference } from './references.ts'

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** As many digits as a number without rounding can have. */
const digitsOfChunk = 8
const chunk = 62n ** BigInt(digitsOfChunk)

/** Bytes as one big-endian number in base 62, without padding (Go's `big.Int.Text(62)`). */
export function base62(bytes: Buffer): string {
  let rest = bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (; rest >= chunk; rest /= chunk)
    text = inBase62(Number(rest % chunk)).padStart(digitsOfChunk, '0') + text
  return inBase62(Number(rest)) + text
}

function inBase62(number: number): string {
  let rest = number
  let text = ''
  for (; rest > 0; rest = Math.floor(rest / 62)) text = (digits[rest % 62] ?? '') + text
  return text === '' ? '0' : text
}

/** Base 62 of the SHA-224 of UTF-8 text, as kcp writes hashes in labels; at most 38 characters. */
export const base62Hash = (text: string): string => base62(createHash('sha224').update(text).digest())

/** On a LogicalCluster and a Workspace: the phase of its status. */
export const phaseLabel = 'tenancy.kcp.io/phase'
export const regionLabel = 'region'

/** Prefix of the labels of claimed objects: `<prefix><hash of the claiming export>: <hash of the claim>` (kcp `pkg/permissionclaim`). */
export const claimLabelPrefix = 'claimed.internal.apis.kcp.io/'
/** On an APIBinding: the hash of the export that it refers to (`apis.InternalAPIBindingExportLabelKey`). */
export const exportLabel = 'internal.apis.kcp.io/export'
/**
 * The claim label's value on a binding, for the export that the binding itself refers to
 * (`permissionclaims.ToReflexiveAPIBindingLabelKeyAndValue`).
 */
export const reflexiveClaimValue = base62(Buffer.from([...Array(28).keys()].map(i => i % 10)))

/** The hash of `<cluster>:<name>`: the value of `exportLabel`, and the name part of claim labels. */
export const exportHash = (of: ExportReference): string => base62Hash(`${of.cluster}:${of.name}`)
export const claimLabelKey = (of: ExportReference): string => claimLabelPrefix + exportHash(of)

/** The value of a claim label (`permissionclaims.ToLabelKeyAndValue`). The order of the JSON's members counts. */
export function claimLabelValue(claim: ClaimedResource): string {
  const { group = '', resource, identityHash } = claim
  return base62Hash(
    JSON.stringify({
      ...(group === '' ? {} : { group }),
      resource,
      verbs: null,
      ...(identityHash === undefined || identityHash === '' ? {} : { identityHash }),
    }),
  )
}

/**
 * The value of a claim label where the accepted verbs have neither list nor watch: lists and watches of all logical clusters do not
 * show these objects. kcp has no such value.
 */
export const unlistedClaimValue = (claim: ClaimedResource): string => `${claimLabelValue(claim)}-unlisted`

interface Label {
  readonly key: string
  readonly value: string
}

/** On a LogicalCluster: its status has the initializer `<cluster>:<type>` or `system:…` (`initialization.InitializerToLabel`). */
export const initializerLabel = (identifier: string): Label =>
  lifecycleLabel('initializer.internal.kcp.io/', identifier)

/** On a LogicalCluster: its status has the terminator `<cluster>:<type>` (`termination.TerminatorToLabel`). */
export const terminatorLabel = (identifier: string): Label =>
  lifecycleLabel('terminator.internal.kcp.io/', identifier)

const labelKeyLimit = 63

function lifecycleLabel(prefix: string, identifier: string): Label {
  const value = createHash('sha224').update(identifier).digest('hex')
  return { key: prefix + value.slice(0, labelKeyLimit - prefix.length), value }
}
