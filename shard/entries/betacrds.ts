import type { KubeObject } from '../../framework/meta/object.ts'

type Members = Readonly<Record<string, unknown>>

interface BetaSpec extends Members {
  readonly version?: string
  readonly versions?: readonly BetaVersion[]
  readonly conversion?: Members
  readonly validation?: unknown
  readonly subresources?: unknown
  readonly additionalPrinterColumns?: readonly BetaColumn[]
  readonly selectableFields?: unknown
}

type BetaVersion = Members & { readonly additionalPrinterColumns?: readonly BetaColumn[] }
type BetaColumn = Members & { readonly JSONPath?: string }

/**
 * A CustomResourceDefinition of `apiextensions.k8s.io/v1beta1`, in which kcp and Kubernetes store all of them, as `v1`: what all
 * versions have in common is in each of them (kube-apiserver `apiextensions/v1beta1/types.go`).
 */
export function crdFromBeta(object: KubeObject): KubeObject {
  const { version, versions, conversion, ...rest } = object.spec as BetaSpec
  const { validation, subresources, additionalPrinterColumns, selectableFields, ...spec } = rest
  const { preserveUnknownFields, ...kept } = spec
  const only = [{ name: version, served: true, storage: true }]
  const common = defined({ schema: validation, subresources, additionalPrinterColumns, selectableFields })
  return {
    ...object,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      ...kept,
      ...(preserveUnknownFields === false ? {} : { preserveUnknownFields: true }),
      versions: (versions ?? only).map(each => versionFrom({ ...common, ...each })),
      conversion: conversionFrom(conversion ?? { strategy: 'None' }),
    },
  }
}

const defined = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

function versionFrom({ additionalPrinterColumns: columns, ...version }: BetaVersion): Members {
  if (columns === undefined) return version
  const shown = columns.map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath }))
  return { ...version, additionalPrinterColumns: shown }
}

function conversionFrom({ strategy, webhookClientConfig, conversionReviewVersions }: Members): Members {
  if (strategy !== 'Webhook') return { strategy }
  return {
    strategy,
    webhook: defined({ clientConfig: webhookClientConfig, conversionReviewVersions }),
  }
}
