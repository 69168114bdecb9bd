import { humanDuration } from '../../../framework/formats/humanduration.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { age, computed, fieldsOf, itemsOf, specOf, textOf } from '../columns.ts'
import { atomicList, bytes, int32, kindSchema, listMap, object, string, time } from '../fields.ts'
import { userExtra } from '../fragments.ts'
import { builtin } from './kind.ts'

const spec = object(
  'Certificate request. Immutable.',
  {
    expirationSeconds: int32(
      'Requested validity of the certificate, in seconds. The signer can issue another validity.',
    ),
    extra: userExtra('Extra attributes of the requesting user. Set by the server.'),
    groups: atomicList('Groups of the requesting user. Set by the server.'),
    request: bytes('PEM-encoded PKCS#10 certificate signing request.'),
    signerName: string('Name of the requested signer, in the form <domain>/<path>.'),
    uid: string('UID of the requesting user. Set by the server.'),
    usages: atomicList('Key usages that are requested for the certificate.'),
    username: string('Name of the requesting user. Set by the server.'),
  },
  { required: ['request', 'signerName'] },
)

const status = object('Approval state and issued certificate of the request.', {
  certificate: bytes('PEM-encoded certificate that was issued, followed by its intermediate certificates.'),
  conditions: listMap(
    'Conditions of the request: Approved, Denied or Failed.',
    ['type'],
    object(
      'A condition of the request.',
      {
        lastTransitionTime: time('Last time the status of the condition changed.'),
        lastUpdateTime: time('Last time the condition was updated.'),
        message: string('Human-readable details about the last transition.'),
        reason: string('Reason for the last transition, as one word in CamelCase.'),
        status: string('Status of the condition: True, False or Unknown.'),
        type: string('Type of the condition: Approved, Denied or Failed.'),
      },
      { required: ['type', 'status'] },
    ),
  ),
})

/** `Approved,Issued`. Denied takes precedence over Approved. */
function condition(request: KubeObject): string {
  const { conditions, certificate } = fieldsOf(request.status)
  const types = new Set(itemsOf(conditions).map(c => c.type))
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending'
  const failed = types.has('Failed') ? ',Failed' : ''
  return `${decision}${failed}${textOf(certificate) === '' ? '' : ',Issued'}`
}

function requestedDuration(request: KubeObject): string {
  const seconds = specOf(request).expirationSeconds
  return typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>'
}

export const certificateSigningRequests = builtin({
  group: 'certificates.k8s.io',
  kind: 'CertificateSigningRequest',
  shortNames: ['csr'],
  status: true,
  schema: kindSchema(
    'CertificateSigningRequest requests a certificate from a signer.',
    { spec, status },
    { required: ['spec'] },
  ),
  columns: [
    age,
    computed(
      ['SignerName', 'string', 'Name of the requested signer.'],
      o => textOf(specOf(o).signerName) || '<none>',
    ),
    computed(['Requestor', 'string', 'Name of the requesting user.'], o => textOf(specOf(o).username)),
    computed(['RequestedDuration', 'string', 'Requested validity of the certificate.'], requestedDuration),
    computed(['Condition', 'string', 'State of the request.'], condition),
  ],
  selectableFields: [{ jsonPath: '.spec.signerName' }],
})
