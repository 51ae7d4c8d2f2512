import { conforms } from './conforms.js';

conforms('reference');
