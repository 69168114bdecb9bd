import { createHash } from 'node:crypto'

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Bytes as one big-endian number in base 62, without padding (chapter 10, section 2.1). */
export function base62(bytes: Buffer): string {
  let rest = bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (; rest > 0n; rest /= 62n) text = (digits[Number(rest % 62n)] ?? '') + text
  return text === '' ? '0' : text
}

/** `B62S224`: base 62 of the SHA-224 of UTF-8 text; at most 38 characters. */
export const base62Hash = (text: string): string => base62(createHash('sha224').update(text).digest())

/** An export, by the name (never the path) of its logical cluster. */
export interface ExportReference {
  readonly cluster: string
  readonly name: string
}

/** What identifies a permission claim: verbs and selectors do not. */
export interface ClaimedResource {
  readonly group: string
  readonly resource: string
  readonly identityHash?: string
}

/** Prefix of the labels that say by which claims an object is visible (chapter 10, section 2.2). */
export const claimLabelPrefix = 'claimed.internal.apis.kcp.io/'
/** Label of an APIBinding that names its export (chapter 10, section 2.4). */
export const exportLabel = 'internal.apis.kcp.io/export'
/** Value of a binding's claim label for the export it points at itself (chapter 10, section 2.3). */
export const reflexiveClaimValue = base62(Buffer.from([...Array(28).keys()].map(i => i % 10)))

/** `<exportCluster>:<exportName>`, hashed: the value of `exportLabel` and the name part of claim labels. */
export const exportHash = (of: ExportReference): string => base62Hash(`${of.cluster}:${of.name}`)
export const claimLabelKey = (of: ExportReference): string => claimLabelPrefix + exportHash(of)

/** The value of a claim label. The JSON's member order is part of the encoding. */
export function claimLabelValue(claim: ClaimedResource): string {
  const { group, resource, identityHash } = claim
  return base62Hash(
    JSON.stringify({
      ...(group === '' ? {} : { group }),
      resource,
      verbs: null,
      ...(identityHash === undefined || identityHash === '' ? {} : { identityHash }),
    }),
  )
}

/** A label as key and value. */
export interface Label {
  readonly key: string
  readonly value: string
}

/** The label of a LogicalCluster that waits for the initializer `<cluster>:<type>` or `system:…` (chapter 10, section 2.5). */
export const initializerLabel = (identifier: string): Label =>
  lifecycleLabel('initializer.internal.kcp.io/', identifier)

/** The label of a LogicalCluster that waits for the terminator `<cluster>:<type>`. */
export const terminatorLabel = (identifier: string): Label =>
  lifecycleLabel('terminator.internal.kcp.io/', identifier)

const labelKeyLimit = 63

function lifecycleLabel(prefix: string, identifier: string): Label {
  const value = createHash('sha224').update(identifier).digest('hex')
  return { key: prefix + value.slice(0, labelKeyLimit - prefix.length), value }
}
