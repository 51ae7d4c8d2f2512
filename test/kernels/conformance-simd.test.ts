import { conforms } from './conforms.js';

conforms('simd');
