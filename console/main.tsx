import { render } from 'preact'
import { Console } from './console.tsx'

const element = document.getElementById('console')
if (element !== null) {
  element.replaceChildren()
  render(<Console />, element)
}
