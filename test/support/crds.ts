import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubeObject } from '../../framework/index.ts'
import { root } from './source.ts'

const folder = join(root, '../shared/data/crds')

/** CustomResourceDefinitions that nobody here wrote, by file name; empty where the folder is absent. */
export const foreignCrds = (): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter(f => f.endsWith('.yaml'))
        .sort()
    : []

export const readCrd = (file: string): KubeObject =>
  parse(readFileSync(join(folder, file), 'utf8')) as KubeObject

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

/** A small CRD of our own, for machines without the foreign ones. */
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

/** cert-manager's Certificate, 46 kB of schema, where it is at hand. */
export const certificates = (): KubeObject =>
  foreignCrds().includes('cert-manager.io_certificates.yaml')
    ? readCrd('cert-manager.io_certificates.yaml')
    : gadgets
