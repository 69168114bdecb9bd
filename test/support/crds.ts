import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubeObject } from '../../framework/index.ts'

/** The CustomResourceDefinitions of a folder of YAML files, in the order of the files' names; none without a folder. */
const definitionsIn = (folder: string | undefined): readonly KubeObject[] =>
  (folder ? readdirSync(folder) : [])
    .filter(file => file.endsWith('.yaml'))
    .sort()
    .map(file => parse(readFileSync(join(folder ?? '', file), 'utf8')) as KubeObject)

/** CustomResourceDefinitions of other projects. */
export const foreignCrds = (): readonly KubeObject[] => definitionsIn(process.env.FOREIGN_CRDS)
export const noForeignCrds =
  'needs CustomResourceDefinitions of other projects, FOREIGN_CRDS=<folder> npm test'

/** One of them by the name of its object. */
export const foreignCrd = <T = KubeObject>(name: string): T | undefined =>
  foreignCrds().find(({ metadata }) => metadata.name === name) as T | undefined

/** The CustomResourceDefinitions of kcp: the folder `config/crds` of its source. */
export const kcpCrds = (): readonly KubeObject[] => definitionsIn(process.env.KCP_CRDS)
export const noKcpCrds = "needs kcp's folder config/crds, KCP_CRDS=<folder> npm test"

interface CrdSpec {
  readonly group: string
  readonly names: { readonly plural: string }
  readonly scope: string
  readonly conversion?: object
  readonly versions: readonly (Record<string, unknown> & {
    readonly schema: { readonly openAPIV3Schema: object }
  })[]
}

/** The APIResourceSchema of a CRD, as `kcp crd snapshot` generates it. */
export function apiResourceSchemaOf(crd: KubeObject, prefix: string): KubeObject {
  const { group, names, scope, versions, conversion = { strategy: 'None' } } = crd.spec as CrdSpec
  const approval = crd.metadata.annotations?.['api-approved.kubernetes.io']
  return {
    apiVersion: 'apis.kcp.io/v1alpha1',
    kind: 'APIResourceSchema',
    metadata: {
      name: `${prefix}.${names.plural}.${group}`,
      ...(approval && { annotations: { 'api-approved.kubernetes.io': approval } }),
    },
    spec: {
      group,
      names,
      scope,
      ...(versions.length > 1 && { conversion }),
      versions: versions.map(version => ({ ...version, schema: version.schema.openAPIV3Schema })),
    },
  }
}

/** A small CRD in place of cert-manager's. */
export const gadgets: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'certificates.cert-manager.io' },
  spec: {
    group: 'cert-manager.io',
    names: {
      plural: 'certificates',
      singular: 'certificate',
      kind: 'Certificate',
      listKind: 'CertificateList',
    },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['issuerRef', 'secretName'],
                properties: {
                  secretName: { type: 'string' },
                  dnsNames: { type: 'array', items: { type: 'string' } },
                  issuerRef: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
                },
              },
              status: { type: 'object', properties: { revision: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
}

/** cert-manager's Certificate, 46 kB of schema, if FOREIGN_CRDS has it. */
export const certificates = (): KubeObject => foreignCrd(gadgets.metadata.name ?? '') ?? gadgets

/** A cluster-scoped CRD `gadgets` without fields. */
export const clusterGadgets = (group: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})
