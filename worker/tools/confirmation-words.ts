/**
 * Words beside those for yes and no in an answer to a question that asks for a yes, in the languages that the engine has lines in. All of
 * them count at once, because callers may change the language. In lower case, without apostrophes where a word is compared alone.
 */
import { listed } from '../../shared/base/listed.ts';

/** Yes beyond doubt, so that a short order may follow: "yes, book it". `order` is how one begins in the language, or ends. */
export interface FirmYes {
  readonly words: readonly string[];
  /** The words of the order with a blank between them, without those that mean nothing by themselves. */
  readonly order: RegExp;
}

/** Orders that callers give to an agent: the first word of one. */
const englishOrders =
  'book|reserve|send|transfer|pay|order|make|schedule|set|add|delete|remove|call|put|start|submit|sign|register|confirm|activate|block|update|connect|arrange|buy|sell|go|try|use|take|give|get|open|close|finish|complete|process|continue|place|move|charge|refund|renew|email|text|ship|deliver|print|save|note|check|issue|approve|enter|switch|turn|let|bring|proceed|lock|unlock|forward|extend|accept|apply|create|enroll|save|repeat|release|return|switch|deal|carry';
const spanishOrders =
  'reserve|reserva|envíe|envía|mande|manda|pague|paga|transfiera|transfiere|haga|haz|ponga|pon|añada|añade|compre|compra|pida|pide|active|activa|bloquee|bloquea|borre|borra|llame|llama|siga|sigue|continúe|continúa|use|usa|tome|toma|abra|abre|cierre|cierra|confirme|confirma|conecte|conecta|páseme|pásame';
const frenchOrders =
  'réserve|envoie|paie|paye|commande|mets|ajoute|supprime|appelle|active|bloque|confirme|prends|ouvre|ferme|continue|utilise';
const germanOrders =
  'buch|buche|reservier|reserviere|schick|schicke|sende|bezahl|bezahle|überweis|überweise|bestell|bestelle|leg|lege|trag|trage|nimm|ruf|rufe|mach|mache|fahr|starte|speichere|lösche';

export const firmYes: readonly FirmYes[] = [
  {
    words: listed('yes|yeah|yep|yup|absolutely|definitely|certainly|of course'),
    order: new RegExp(`^(?:${englishOrders})(?: |$)`, 'u'),
  },
  {
    words: listed('evet|elbette|kesinlikle'),
    // The verb stands last.
    order: /(?:[ıiuü]n(?:[ıiuü]z)?|[ae]l[ıi]m)$/u,
  },
  {
    words: listed('ja|jawohl|natürlich|auf jeden fall'),
    // "Buchen Sie den Tisch", or "bitte buchen".
    order: new RegExp(`^(?:${germanOrders})(?: |$)|^\\p{L}+(?:en|ern|eln)(?: sie(?: |$)|$)`, 'u'),
  },
  {
    words: listed('sí|claro que sí|por supuesto'),
    // "Resérvelo" as well.
    order: new RegExp(`^(?:${spanishOrders}|\\p{L}+[ae](?:me)?l[oa]s?)(?: |$)`, 'u'),
  },
  {
    words: listed('oui|bien sûr|absolument'),
    order: new RegExp(`^(?:${frenchOrders}|\\p{L}+ez)(?: |$)`, 'u'),
  },
];

/** Agrees as a whole phrase, whatever its single words mean elsewhere. */
export const accepts: readonly string[] = listed(
  "that'd be great|that'd be good|that'd be nice|that'd be lovely|that'd be perfect|that'd be fine|that'd be wonderful|that'd be helpful|that would be very nice",
  "that would be very kind|that would be very helpful|that would be really nice|that would be really helpful|that's fine|that is fine|that's okay|that is okay",
  "that's ok|that's correct|that is correct|that's what i want|that is what i want|exactly|indeed|go for it|fine by me|you bet|go on|keep going|i would appreciate that|tabii ki|tabi ki|öyle|let's do it|let's do that",
  'let us do that|happy to|id be happy to|as i said|as i said before',
  'das wäre sehr nett|das wäre sehr schön|das wäre sehr gut|das wäre sehr lieb|das wäre wirklich nett|das wäre wunderbar|genau so|so ist es|das ist korrekt',
  'das ist genau was ich will|ich bin dafür|gern geschehen|auf alle fälle|selbstverständlich|unbedingt',
  'ce serait très bien|ce serait très gentil|ce serait vraiment bien|ça serait très bien|ça serait gentil|cest bien|cest ce que je veux|tout à fait|exactement|évidemment',
  'sería muy amable|sería muy amable de su parte|sería maravilloso|sería perfecto|está perfecto|eso es lo que quiero|exactamente|efectivamente|desde luego|así lo quiero',
  'çok iyi olur|çok memnun olurum|çok makbule geçer|makbule geçer|aynen öyle|aynen|istediğim bu|bence de',
  'i would like that|i would like it|i would like you to|i would love that|i would love it|i would appreciate it|i would|id like that|id like it',
  "id like you to|id love that|id love it|i'd appreciate that|i'd appreciate it|i want that|i want it|i want you to|i do want that|i do want it",
  "i agree|i accept|i approve|i'm sure|i am sure|i'm happy with that|i am happy with that|that would be great|that would be good|that would be nice",
  'that would be fine|that would be lovely|that would be perfect|that would be wonderful|that would be helpful|that works|that works for me',
  'works for me|that sounds good|that sounds great|sounds great|sounds perfect|that will be fine|thatll be fine|that will do|thatll do|you can|you may',
  'you can do that|you may do that|you can go ahead|you may go ahead|can you please|could you please|would you please|will you please',
  'if you would|if you could|if you please|by all means|with pleasure|please proceed|proceed|carry on',
  'das möchte ich|ich möchte das|möchte ich gern|möchte ich gerne|das möchte ich gern|das möchte ich gerne|das hätte ich gern|das hätte ich gerne',
  'ich hätte das gern|ich hätte das gerne|das will ich|ich will das|das wäre toll|das wäre schön|das wäre gut|das wäre nett|das wäre super|das wäre lieb',
  'das wäre prima|das wäre perfekt|wäre schön|wäre toll|wäre nett|ich bitte darum|ich bin einverstanden|bin einverstanden|ich bin sicher|bin sicher',
  'das können sie machen|können sie machen|können sie gern machen|können sie gerne machen|das dürfen sie|dürfen sie|sie dürfen|sie können|tun sie das',
  'tu das|machen sie das|machen sie es|machen sie|mach es|machen wir|das machen wir|so machen wir das|machen wir so|so machen wir es|ich stimme zu',
  'stimme zu|sehr gern|sehr gerne|das passt|passt so|passt mir|das passt mir|das ist richtig|das stimmt|das ist gut|das ist in ordnung|das klingt gut',
  'klingt gut|nur zu|wenn sie so nett wären|wenn sie so freundlich wären|bitte sehr',
  'je veux bien|je le veux|je voudrais bien|je voudrais ça|jaimerais bien|jaimerais ça|je le souhaite|je souhaite que vous le fassiez|ce serait bien',
  'ce serait parfait|ce serait super|ce serait gentil|ce serait formidable|ça serait bien|ça serait parfait|ça serait super|ça me va|ça me convient',
  'avec plaisir|je suis daccord|je suis sûr|je suis sûre|jaccepte|vous pouvez|vous pouvez y aller|vous pouvez le faire|faites donc|faites ça|faites|fais le',
  'fais ça|je vous en prie|je vous prie|si vous voulez bien|bonne idée|cest bien ça|cest exact|cest correct|cest parfait|très volontiers|procédez',
  'lo quiero|eso quiero|eso es lo que quiero|me parece bien|me parece perfecto|me parece|estoy de acuerdo|estoy seguro|estoy segura|sería genial',
  'sería estupendo|sería perfecto|sería fantástico|estaría bien|estaría genial|suena bien|puede hacerlo|puedes hacerlo|háganlo|con gusto|con mucho gusto',
  'encantado|encantada|proceda|procede|si es tan amable|si me hace el favor|es correcto|eso es|acepto|muy bien',
  'çok isterim|bunu isterim|bunu istiyorum|evet istiyorum|kabul ediyorum|kabul|memnun olurum|çok memnun olurum|sevinirim|çok sevinirim|iyi olur',
  'çok iyi olur|güzel olur|çok güzel olur|harika olur|süper olur|öyle yapalım|yapalım|öyle yapın|bunu yapın|yapabilirsiniz|devam edebilirsiniz',
  'rica ederim|rica edeceğim|zahmet olmazsa|mümkünse|memnuniyetle|eminim|bana uyar|katılıyorum|iyi fikir',
);

/** Agrees where nothing follows but thanks: what is wished may as well be something else. */
export const wishes: readonly string[] = listed(
  'id like to|i would like to|id love to|i would love to|i want to|i would like|i want|please i would like to|ich möchte|möchte ich|ich will|ich hätte gern',
  'ich hätte gerne|hätte ich gern|hätte ich gerne|je voudrais|jaimerais|je veux|je souhaite|quiero|quisiera|me gustaría|me encantaría|me gustaría mucho',
  'isterim|istiyorum',
);

/** Thanks, and words to begin with or to address somebody. */
export const courtesies: readonly string[] = listed(
  'for me|for us|right away|straight away|immediately|für mich|pour moi|benim için|thank you for asking|thanks for asking|thank you for your help|thanks for your help|danke der nachfrage|danke für ihre hilfe|merci de votre aide|gracias por su ayuda',
  'um|uh|er|erm|ah|oh|hm|hmm|well|please|thanks|thank you|thank you so much|thank you very much|many thanks|thanks a lot|indeed|sir|madam|maam',
  "great|perfect|lovely|wonderful|excellent|good|awesome|cool|nice|brilliant|that's great|that's perfect|that's very kind|that's kind of you",
  "that's very kind of you|you're very kind|all right|alright",
  'ee|eee|şey|yani|lütfen|teşekkürler|teşekkür ederim|çok teşekkürler|çok teşekkür ederim|teşekkür|sağol|sağ ol|sağ olun|çok sağ olun|efendim',
  'hanımefendi|beyefendi|canım|harika|süper|güzel|mükemmel|çok iyi|çok güzel',
  'äh|ähm|also|bitte|danke|danke schön|dankeschön|danke sehr|vielen dank|herzlichen dank|besten dank|sehr nett|sehr freundlich|das ist nett',
  'das ist sehr nett|super|prima|toll|perfekt|wunderbar|gut|sehr gut|schön',
  'eh|bueno|pues|por favor|gracias|muchas gracias|muchísimas gracias|mil gracias|señor|señora|señorita|muy amable|genial|estupendo|fenomenal',
  'euh|ben|bah|alors|sil vous plaît|sil te plaît|sil vous plait|sil te plait|merci|merci beaucoup|merci bien|merci à vous|madame|monsieur',
  "mademoiselle|c'est gentil|c'est très gentil|très bien|super|génial|formidable|bien",
);

/** Neither here nor there, as long as nothing else is said with them. */
export const lightWords: readonly string[] = listed(
  'so|it|that|thats|this|then|i|im|am|is|do|and|just|lets|said|the|very|much|bunu|onu|ben|o|zaman|ve|dedim|das|es|ich|doch|dann|ist|lo|eso|entonces|ça|cest|je|le',
);

/** With more to say behind them, somebody tells something and orders nothing: "yeah, I know". */
export const tellers: readonly string[] = listed(
  'i|im|ive|ill|id|you|youre|we|were|he|she|they|its|there|theres|here|my|mine|our|your|ich|wir|er|mein|meine|meinen|meiner|je|jai|jétais|nous|il|elle|on',
  'mon|ma|mes|vous|yo|mi|mis|nosotros|nos|ben|biz|sen|siz|benim|bizim',
);

/** Behind these comes a detail or another thing, and no order: "yes, the blue table", "yes, to Berlin". */
export const openers: readonly string[] = listed(
  'the|a|an|for|at|on|in|to|with|from|of|by|about|and|also|plus|as|der|die|den|dem|ein|eine|einen|einem|einer|für|um|im|in|mit|von|zu|nach|an|und|auch|le|la|les',
  'un|une|pour|à|dans|avec|de|du|des|et|aussi|el|los|las|una|para|a|en|con|y|también|ve|bir',
);

/** Turns a yes into a question, a condition or another wish. */
export const hedges: readonly string[] = listed(
  'but|if|unless|maybe|perhaps|think|guess|suppose|except|instead|actually|only|first|later|change',
  'other|another|different|rather|after|before|or|what|how|which|when|why|who|where|can|could|would',
  'should|will|does|ama|fakat|ancak|eğer|belki|sanırım|galiba|yerine|aslında|önce|sonra|başka',
  'yalnız|sadece|veya|ya|ne|nasıl|hangi|neden|niye|kaç|kim|nerede|mi|mı|mu|mü|aber|wenn|falls',
  'vielleicht|oder|sondern|stattdessen|eigentlich|lieber|erst|nur|später|vorher|anders|andere',
  'glaube|denke|wie|wann|warum|wer|wo|welche|außer|pero|si|quizás|quizá|vez|creo|mejor|primero',
  'después|antes|solo|otro|otra|qué|cómo|cuándo|cuánto|cuál|quién|dónde|depende|excepto|salvo',
  'cambiar|mais|peut|sauf|plutôt|dabord|après|avant|ou|où|seulement|autre|crois|pense|quoi|quand',
  'pourquoi|combien|quel|quelle|qui|changer|probably|possibly|though|however|until|wondering|moment|second|question|ask|tell|know',
  'see|understand|understood|hear|heard|listening|got|mean|remember|still|already|hello|hi|speaking|supposed|sort|kind|wish|hope|hoping',
  'was|frage|fragen|weiß|weiss|verstehe|verstanden|kenne|sehe|höre|merke|heiße|hallo|noch|schon|hier|dran|trotzdem|eben|allerdings|wahrscheinlich|eventuell|hoffe|bevor|nachdem',
  'sais|comprends|compris|vois|entends|écoute|savoir|mappelle|demander|allô|bonjour|encore|déjà|toujours|ici|peutêtre|probablement|cependant|espère|suppose|question',
  'sé|entiendo|entendido|comprendo|veo|oigo|escucho|saber|preguntar|pregunta|hola|todavía|aún|ya|aquí|tengo|soy|llamo|dígame|probablemente|supongo|espero|aunque|tal',
  'biliyorum|anladım|anlıyorum|duydum|duyuyorum|dinliyorum|görüyorum|buradayım|merhaba|alo|hâlâ|hala|herhalde|muhtemelen|sorum|soru|sormak|merak|umarım|var|daha',
);

/** Says when, or how many: what was asked about may have said something else. */
export const details: readonly string[] = listed(
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|half|both|today|tomorrow|tonight|morning|afternoon|evening|noon',
  'week|month|next|oclock|pm|monday|tuesday|wednesday|thursday|friday|saturday|sunday|people|person|persons|instead|too|also',
  'eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|halb|beide|heute|morgen|übermorgen|abend|mittag|nachmittag|uhr|woche',
  'nächste|nächsten|nächster|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|personen|leute|auch',
  'deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|vingt|trente|demi|demie|aujourdhui|demain|matin|soir|midi|semaine|prochain|prochaine|heures|heure',
  'lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|personnes|aussi',
  'dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|veinte|treinta|media|hoy|mañana|tarde|noche|semana|próximo|próxima|lunes|martes|miércoles',
  'jueves|viernes|sábado|domingo|personas|también',
  'iki|üç|dört|beş|altı|yedi|sekiz|dokuz|on|yirmi|otuz|buçuk|bugün|yarın|sabah|akşam|öğlen|hafta|gelecek|saat|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi',
  'pazar|kişi|kişilik|de|da',
);

/** Holds a word of no and does not mean it. */
export const noRefusal: readonly string[] = listed(
  "no problem|no worries|why not|don't worry|no doubt|not a problem|if you don't mind|i don't mind|no objection|no objections|sorun yok|sorun değil",
  'problem değil|problem yok|sıkıntı yok|neden olmasın|itirazım yok|kein problem|keine sorge|warum nicht|nichts dagegen|keine einwände',
  'no hay problema|no pasa nada|por qué no|cómo no|si no le importa|si no te importa|no tengo inconveniente|pas de problème|pas de souci|pourquoi pas',
  'si ça ne vous dérange pas|pas dinconvénient|aucun problème',
);
