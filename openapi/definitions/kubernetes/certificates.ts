import { humanDuration } from '../../../framework/formats/humanduration.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { age, computed, fieldsOf, itemsOf, specOf, textOf } from '../columns.ts'
import { atomicList, bytes, int32, kindSchema, listMap, object, string, time } from '../fields.ts'
import { userExtra } from '../fragments.ts'
import { builtin } from './kind.ts'

const spec = object(
  'The request; never changes.',
  {
    expirationSeconds: int32('How long the certificate should be valid, in seconds.'),
    extra: userExtra('Extra attributes of the requester; set by the server.'),
    groups: atomicList('The groups of the requester; set by the server.'),
    request: bytes('A PKCS#10 request, as PEM.'),
    signerName: string('Who should sign: `<domain>/<path>`.'),
    uid: string('The UID of the requester; set by the server.'),
    usages: atomicList('What the key of the certificate may be used for.'),
    username: string('The name of the requester; set by the server.'),
  },
  { required: ['request', 'signerName'] },
)

const status = object('What was decided.', {
  certificate: bytes('The certificate and those between it and the root, as PEM.'),
  conditions: listMap(
    'Approved, Denied or Failed.',
    ['type'],
    object(
      'One decision.',
      {
        lastTransitionTime: time('When status last changed.'),
        lastUpdateTime: time('When the decision last changed.'),
        message: string('Details, for people.'),
        reason: string('Why, as one word in CamelCase.'),
        status: string('True, False or Unknown.'),
        type: string('Approved, Denied or Failed.'),
      },
      { required: ['type', 'status'] },
    ),
  ),
})

/** `Approved,Issued`; a denial hides an approval. */
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
  schema: kindSchema('Asks a signer for a certificate.', { spec, status }, { required: ['spec'] }),
  columns: [
    age,
    computed(['SignerName', 'string', 'Who should sign.'], o => textOf(specOf(o).signerName) || '<none>'),
    computed(['Requestor', 'string', 'Who asked.'], o => textOf(specOf(o).username)),
    computed(['RequestedDuration', 'string', 'How long it should be valid.'], requestedDuration),
    computed(['Condition', 'string', 'What was decided.'], condition),
  ],
  selectableFields: [{ jsonPath: '.spec.signerName' }],
})
