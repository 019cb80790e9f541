/** What callers say in each language, as STT writes it: the words with which the same conversations run in all of them. */

export interface Said {
  /** Answers to a question that asks for a yes. */
  readonly yes: readonly string[];
  readonly no: readonly string[];
  readonly unclear: readonly string[];
  /** Over the agent: it goes on. */
  readonly listens: readonly string[];
  /** Over the agent: it stops. */
  readonly stops: readonly string[];
  /** Words behind which more is waited for. */
  readonly begun: readonly string[];
  /** Asks for time: more is waited for, whatever STT makes of it. */
  readonly thinking: readonly string[];
  /** Sounds much like it, and asks for none. */
  readonly notThinking: readonly string[];
  /** Takes back what was said, and something may follow. */
  readonly correction: string;
  /** Words that are all there is. */
  readonly whole: readonly string[];
  /** The agent asks for so many digits, and what is said of them. */
  readonly digits: readonly { readonly asked: string; readonly part: string; readonly all: string }[];
  /** The agent asks for a name to be spelled, and the word is said first. */
  readonly spelling: { readonly asked: string; readonly said: string };
  /** The agent asks for a number or name of unknown length. */
  readonly open: readonly { readonly asked: string; readonly said: string }[];
  /** An address for mail of which the end is missing. */
  readonly mail: { readonly asked: string; readonly said: string };
  /** Into the farewell. */
  readonly goodbyes: readonly string[];
  /** Into the farewell, with more behind it. */
  readonly more: readonly string[];
  /** Sentences of the agent that are one piece for TTS, each with another behind it. */
  readonly pieces: readonly string[];
}

export const dialogues: Readonly<Record<string, Said>> = {
  en: {
    yes: ['Yes.', 'Yeah, sure.', 'Yes, please book it.', 'Of course, thanks.', "That'd be great."],
    no: ['No.', 'No, thank you.', 'Please stop.', "Don't do that."],
    unclear: ['Yes, but tomorrow.', 'What does it cost?', 'Maybe.', 'Yes, for two people.'],
    listens: ['Okay.', 'Uh-huh, I see.', 'yeah yeah', 'No problem.', 'got it'],
    stops: [
      'Stop.',
      'That is enough.',
      "That's it.",
      'Wait, wait.',
      'No, on Friday.',
      'What?',
      'Can I ask something?',
    ],
    begun: ['um', 'I would like to', 'a table for two and', 'my name is', 'can you', 'the'],
    thinking: [
      'Let me see.',
      'um, let me think',
      'Okay, one moment please.',
      'Wait.',
      'One moment please, I have to look for it.',
    ],
    notThinking: ['Let me see the menu.', 'I wait for you.'],
    correction: 'no sorry five people',
    spelling: { asked: 'Could you spell your last name?', said: 'it is kowalczyk' },
    whole: ['a table for two', 'tomorrow at noon', 'yes', 'twenty people'],
    digits: [
      { asked: 'Your four-digit PIN, please.', part: 'seven two', all: 'seven two nine oh' },
      { asked: 'Please read me all sixteen digits.', part: 'four five six', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'What is your phone number?', said: 'five five five' },
      { asked: 'Could you spell your name?', said: 's m i' },
    ],
    mail: { asked: 'What is your e-mail address?', said: 'john dot smith at' },
    goodbyes: ['Bye.', 'Thank you, bye bye.', 'You too.'],
    more: ['Wait, one more question.', 'Thanks, and when do you open?'],
    pieces: ['Please ask Dr. Miller about it. ', 'It is open from 9 a.m. on Sundays. '],
  },
  de: {
    yes: ['Ja.', 'Ja, gerne.', 'Natürlich, danke.', 'Ja, bitte buchen.', 'Das wäre sehr nett.'],
    no: ['Nein.', 'Nein, danke.', 'Lieber nicht.', 'Auf keinen Fall, stopp.'],
    unclear: ['Ja, aber erst morgen.', 'Was kostet das?', 'Vielleicht.', 'Ja, für zwei Personen.'],
    listens: ['Ja.', 'Mhm, verstehe.', 'ja ja', 'Kein Problem.', 'alles klar'],
    stops: [
      'Stopp.',
      'Das reicht.',
      'Das ist genug.',
      'Moment mal.',
      'Nein, am Freitag.',
      'Wie bitte?',
      'Kann ich etwas fragen?',
    ],
    begun: ['ähm', 'also', 'ich möchte', 'einen Tisch für zwei und', 'mein Name ist', 'der'],
    thinking: [
      'Mal sehen.',
      'ähm, mal überlegen',
      'Ja, einen Moment bitte.',
      'Warten Sie.',
      'Moment, ich muss nachsehen.',
    ],
    notThinking: ['Ich warte auf den Zug.'],
    correction: 'nein entschuldigung fünf Personen',
    spelling: { asked: 'Können Sie den Namen buchstabieren?', said: 'das ist Kowalczyk' },
    whole: ['einen Tisch für zwei Personen', 'morgen Mittag', 'ja', 'das wäre alles'],
    digits: [
      { asked: 'Bitte die vierstellige PIN.', part: 'sieben zwei', all: 'sieben zwo neun null' },
      { asked: 'Nennen Sie alle sechzehn Ziffern.', part: 'vier fünf', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'Wie ist Ihre Telefonnummer?', said: 'null eins sieben' },
      { asked: 'Können Sie das buchstabieren?', said: 'm ü l' },
    ],
    mail: { asked: 'Wie ist Ihre E-Mail-Adresse?', said: 'anna punkt weber ät' },
    goodbyes: ['Tschüss.', 'Danke, auf Wiederhören.', 'Ihnen auch.'],
    more: ['Moment, eine Frage noch.', 'Danke, und wann öffnen Sie?'],
    pieces: ['Das ist am 3. Mai um zehn Uhr. ', 'Bitte fragen Sie Dr. Ott z.B. am Montag. '],
  },
  fr: {
    yes: ['Oui.', 'Oui, bien sûr.', "D'accord, merci.", 'Oui, réservez la table.', 'Ce serait très bien.'],
    no: ['Non.', 'Non merci.', 'Arrêtez, s’il vous plaît.', 'Surtout pas.'],
    unclear: ['Oui, mais demain.', 'Combien ça coûte ?', 'Peut-être.', 'Oui, pour deux personnes.'],
    listens: ['Oui.', "D'accord, je vois.", 'ouais ouais', 'Pas de souci.', 'très bien'],
    stops: [
      'Stop.',
      'Ça suffit.',
      'Plutôt maintenant.',
      'Attendez.',
      'Non, vendredi.',
      'Quoi ?',
      'Je peux vous poser une question ?',
    ],
    begun: ['euh', 'je voudrais', 'une table pour deux et', "je m'appelle", 'est-ce que', 'le'],
    thinking: [
      'Attendez.',
      'euh, voyons voir',
      'Oui, un instant.',
      'Laissez-moi réfléchir.',
      'Attendez, je cherche.',
    ],
    notThinking: ["J'attends le train."],
    correction: 'non pardon cinq personnes',
    spelling: { asked: 'Pouvez-vous épeler votre nom ?', said: "c'est Kowalczyk" },
    whole: ['une table pour deux personnes', 'demain à midi', 'oui', 'vingt personnes'],
    digits: [
      { asked: 'Les quatre chiffres de votre code ?', part: 'sept deux', all: 'sept deux neuf zéro' },
      { asked: 'Donnez-moi les seize chiffres.', part: 'quatre cinq', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'Quel est votre numéro de téléphone ?', said: 'zéro six douze' },
      { asked: 'Pouvez-vous épeler votre nom ?', said: 'd u p' },
    ],
    mail: { asked: 'Quelle est votre adresse e-mail ?', said: 'marie point dupont arobase' },
    goodbyes: ['Au revoir.', 'Merci, bonne journée.', 'Vous aussi.'],
    more: ['Attendez, une question.', 'Merci, et vous ouvrez quand ?'],
    pieces: ['Demandez à Mme. Dupont demain. ', 'Le Dr. Martin vous attend à midi. '],
  },
  es: {
    yes: ['Sí.', 'Sí, claro.', 'Por supuesto, gracias.', 'Sí, resérvelo.', 'Sería muy amable.'],
    no: ['No.', 'No, gracias.', 'Espere, por favor.', 'Mejor no.'],
    unclear: ['Sí, pero mañana.', '¿Cuánto cuesta?', 'Quizás.', 'Sí, para dos personas.'],
    listens: ['Sí.', 'Ajá, entiendo.', 'vale vale', 'No hay problema.', 'muy bien'],
    stops: [
      'Para.',
      'Mejor ahora.',
      'Ya basta.',
      'Espere un momento.',
      'No, el viernes.',
      '¿Qué?',
      '¿Puedo preguntar algo?',
    ],
    begun: ['eh', 'el', 'me llamo', 'una mesa para dos y', 'quiero', 'mi nombre es'],
    thinking: ['A ver.', 'eh, déjeme pensar', 'Sí, un momento.', 'Espere.', 'Espere, lo estoy buscando.'],
    notThinking: ['Espero el tren.'],
    correction: 'no perdón cinco personas',
    spelling: { asked: '¿Puede deletrear su apellido?', said: 'es Kowalczyk' },
    whole: ['una mesa para dos', 'mañana al mediodía', 'sí', 'si', 'veinte personas'],
    digits: [
      { asked: 'Los cuatro dígitos, por favor.', part: 'siete dos', all: 'siete dos nueve cero' },
      { asked: 'Dígame los dieciséis dígitos.', part: 'cuatro cinco', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: '¿Cuál es su número de teléfono?', said: 'seis cinco cinco' },
      { asked: '¿Puede deletrear su nombre?', said: 'g a r' },
    ],
    mail: { asked: '¿Cuál es su correo?', said: 'ana punto garcía arroba' },
    goodbyes: ['Adiós.', 'Muchas gracias, hasta luego.', 'Igualmente.'],
    more: ['Espere, otra pregunta.', 'Gracias, ¿y cuándo abren?'],
    pieces: ['Pregunte por la Sra. López mañana. ', 'Vive en la Avda. Colón desde ayer. '],
  },
  tr: {
    yes: ['Evet.', 'Evet, lütfen.', 'Tabii, teşekkürler.', 'Evet, masayı ayırtın.', 'Çok iyi olur.'],
    no: ['Hayır.', 'Hayır, teşekkürler.', 'İstemiyorum.', 'Yok, vazgeçtim.'],
    unclear: ['Evet ama yarın.', 'Ne kadar?', 'Belki.', 'Evet, iki kişi.'],
    listens: ['Evet.', 'Hı hı, anladım.', 'tamam tamam', 'Sorun değil.', 'TAMAM'],
    stops: ['Dur.', 'Bir dakika bekleyin.', 'Hayır, cuma günü.', 'Ne?', 'Bir şey sorabilir miyim?'],
    begun: ['şey', 'yani', 'iki kişilik masa ve', 'benim adım', 'iki bilet için', 'ıı'],
    thinking: [
      'Bir bakayım.',
      'şey, düşüneyim',
      'Evet, bir saniye.',
      'Bekleyin.',
      'Bir dakika, bakmam lazım.',
    ],
    notThinking: ['Treni bekliyorum.'],
    correction: 'hayır pardon beş kişi',
    spelling: { asked: 'Soyadınızı heceler misiniz?', said: 'Kowalczyk' },
    whole: ['iki kişilik bir masa istiyorum', 'yarın öğlen', 'evet', 'yirmi kişi'],
    digits: [
      { asked: 'Dört haneli şifreniz nedir?', part: 'yedi iki', all: 'yedi iki dokuz sıfır' },
      { asked: 'On altı haneli kart numaranız?', part: 'dört beş', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'Telefon numaranız nedir?', said: 'beş beş beş' },
      { asked: 'Adınızı heceler misiniz?', said: 'a y ş' },
    ],
    mail: { asked: 'E-posta adresiniz nedir?', said: 'ali nokta' },
    goodbyes: ['Hoşça kalın.', 'Teşekkür ederim, iyi günler.', 'Sağ olun.'],
    more: ['Bir dakika, bir sorum daha var.', 'Teşekkürler, kaçta açıyorsunuz?'],
    pieces: ['Sn. Yılmaz sizi yarın arayacak. ', 'Odanız ikinci binada 3. katta. '],
  },
  it: {
    yes: [
      'Sì.',
      'Si.',
      'Certo, grazie.',
      'Sì, lo prenoti.',
      'Va benissimo.',
      "D'accordo.",
      'Sì, prenoti il tavolo.',
    ],
    no: ['No.', 'No, grazie.', 'Aspetti, per favore.', 'Non lo voglio.', 'Lasci stare.'],
    unclear: ['Sì, ma domani.', 'Quanto costa?', 'Forse.', 'Sì, per due persone.', 'Sì, credo.'],
    listens: ['Sì.', 'Va bene, ho capito.', 'sì sì', 'Nessun problema.', "d'accordo", 'certo certo'],
    stops: [
      'Basta.',
      'Meglio adesso.',
      'Aspetti un attimo.',
      'No, venerdì.',
      'Come?',
      'Posso fare una domanda?',
    ],
    begun: ['ehm', 'cioè', 'vorrei', 'un tavolo per due e', 'mi chiamo', 'il'],
    thinking: [
      'Vediamo.',
      'ehm, mi faccia pensare',
      'Sì, un attimo.',
      'Aspetti.',
      'Un attimo, lo sto cercando.',
    ],
    notThinking: ['Aspetto il treno.'],
    correction: 'no scusi cinque persone',
    spelling: { asked: 'Può dirmi il cognome lettera per lettera?', said: 'è Kowalczyk' },
    whole: ['un tavolo per due', 'domani a mezzogiorno', 'sì', 'si', 'venti persone'],
    digits: [
      { asked: 'Il codice di quattro cifre, per favore.', part: 'sette due', all: 'sette due nove zero' },
      { asked: 'Mi dica le sedici cifre.', part: 'quattro cinque', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'Qual è il suo numero di telefono?', said: 'tre quattro sette' },
      { asked: 'Può dirmi il cognome lettera per lettera?', said: 'r o s' },
    ],
    mail: { asked: 'Qual è il suo indirizzo e-mail?', said: 'anna punto rossi chiocciola' },
    goodbyes: ['Arrivederci.', 'Grazie mille, buona giornata.', 'Altrettanto.', 'Ciao ciao.'],
    more: ['Aspetti, un’altra domanda.', 'Grazie, e quando aprite?'],
    pieces: ['Chieda alla sig.ra Rossi domani mattina. ', 'La attende il dott. Bianchi a mezzogiorno. '],
  },
  pt: {
    yes: ['Sim.', 'Claro, obrigado.', 'Pode sim.', 'Sim, pode reservar.', 'Tá bom.', 'Sim, por favor.'],
    no: ['Não.', 'Nao.', 'Não, obrigada.', 'Espere, por favor.', 'Deixa, cancela.'],
    unclear: ['Sim, mas amanhã.', 'Quanto custa?', 'Talvez.', 'Sim, para duas pessoas.', 'Acho que sim.'],
    listens: ['Sim.', 'Tá bom, entendi.', 'aham', 'Sem problema.', 'pois é', 'isso mesmo'],
    stops: ['Pare.', 'Espera aí um momento.', 'Não, na sexta.', 'O quê?', 'Posso fazer uma pergunta?'],
    begun: ['hum', 'eu queria', 'uma mesa para dois e', 'meu nome é', 'gostaria de', 'o'],
    thinking: [
      'Deixa eu ver.',
      'hum, deixa eu pensar',
      'Sim, só um momento.',
      'Espera.',
      'Um minutinho, estou procurando.',
    ],
    notThinking: ['Espero o comboio.'],
    correction: 'não desculpe cinco pessoas',
    spelling: { asked: 'Pode soletrar o seu sobrenome?', said: 'é Kowalczyk' },
    whole: ['uma mesa para duas pessoas', 'amanhã ao meio-dia', 'sim', 'vinte pessoas'],
    digits: [
      { asked: 'Os quatro dígitos, por favor.', part: 'sete dois', all: 'sete dois nove zero' },
      { asked: 'Diga os dezesseis números do cartão.', part: 'quatro cinco', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'Qual é o seu número de telefone?', said: 'nove meia um' },
      { asked: 'Pode soletrar o seu nome?', said: 's i l' },
    ],
    mail: { asked: 'Qual é o seu e-mail?', said: 'ana ponto silva arroba' },
    goodbyes: ['Tchau.', 'Muito obrigado, até logo.', 'Igualmente.', 'Obrigada, tchau tchau.'],
    more: ['Espera, mais uma pergunta.', 'Obrigado, e quando abrem?'],
    pieces: ['Fale com a Sra. Silva amanhã cedo. ', 'O Dr. Costa atende ao meio-dia. '],
  },
  nl: {
    yes: [
      'Ja.',
      'Ja hoor.',
      'Natuurlijk, dank u.',
      'Ja, boekt u maar.',
      'Ja, doe maar.',
      'Dat zou fijn zijn.',
    ],
    no: ['Nee.', 'Nee, dank u.', 'Liever niet.', 'Wacht even.', 'Laat maar.'],
    unclear: ['Ja, maar morgen.', 'Wat kost dat?', 'Misschien.', 'Ja, voor twee personen.', 'Ik denk het.'],
    listens: ['Ja.', 'Oké, ik snap het.', 'jaja', 'Geen probleem.', 'prima', 'dat klopt'],
    stops: ['Stop.', 'Wacht even.', 'Nee, op vrijdag.', 'Wat zegt u?', 'Mag ik iets vragen?'],
    begun: ['eh', 'dus', 'ik wil graag', 'een tafel voor twee en', 'mijn naam is', 'de'],
    thinking: [
      'Even kijken.',
      'eh, laat me even denken',
      'Ja, een momentje.',
      'Wacht even.',
      'Momentje, ik zoek het even op.',
    ],
    notThinking: ['Ik wacht op de trein.'],
    correction: 'nee sorry vijf personen',
    spelling: { asked: 'Kunt u uw achternaam spellen?', said: 'het is Kowalczyk' },
    whole: ['een tafel voor twee', 'morgenmiddag', 'ja', 'twintig personen'],
    digits: [
      { asked: 'De viercijferige pincode, alstublieft.', part: 'zeven twee', all: 'zeven twee negen nul' },
      { asked: 'Noem alle zestien cijfers.', part: 'vier vijf', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'Wat is uw telefoonnummer?', said: 'nul zes een' },
      { asked: 'Kunt u uw naam spellen?', said: 'j a n' },
    ],
    mail: { asked: 'Wat is uw e-mailadres?', said: 'anna punt jansen apenstaartje' },
    goodbyes: ['Dag.', 'Dank u wel, tot ziens.', 'Van hetzelfde.', 'Doei doei.'],
    more: ['Wacht, nog een vraag.', 'Bedankt, en wanneer gaat u open?'],
    pieces: ['Vraag het morgen aan mevr. Jansen. ', 'Er zijn enz. meer soorten bij dr. Bakker. '],
  },
  pl: {
    yes: [
      'Tak.',
      'Tak, proszę.',
      'Oczywiście, dziękuję.',
      'Tak, proszę zarezerwować.',
      'No jasne.',
      'Dobrze.',
    ],
    no: ['Nie.', 'Nie, dziękuję.', 'Proszę poczekać.', 'Rezygnuję.', 'Nie chcę.'],
    unclear: ['Tak, ale jutro.', 'Ile to kosztuje?', 'Może.', 'Tak, dla dwóch osób.', 'Chyba tak.'],
    listens: ['Tak.', 'No tak, rozumiem.', 'no no', 'Nie ma problemu.', 'aha, dobrze', 'jasne'],
    stops: ['Stop.', 'Proszę poczekać.', 'Nie, w piątek.', 'Co?', 'Mogę o coś zapytać?'],
    begun: ['yyy', 'chciałbym', 'stolik dla dwóch osób i', 'nazywam się', 'ale', 'w'],
    thinking: [
      'Niech pomyślę.',
      'yyy, niech zobaczę',
      'Tak, chwileczkę.',
      'Proszę poczekać.',
      'Moment, muszę sprawdzić.',
    ],
    notThinking: ['Czekam na pociąg.'],
    correction: 'nie przepraszam pięć osób',
    spelling: { asked: 'Czy może pan przeliterować nazwisko?', said: 'to jest Kowalczyk' },
    whole: ['stolik dla dwóch osób', 'jutro w południe', 'tak', 'dwadzieścia osób'],
    digits: [
      { asked: 'Proszę podać czterocyfrowy kod.', part: 'siedem dwa', all: 'siedem dwa dziewięć zero' },
      { asked: 'Proszę podać szesnaście cyfr karty.', part: 'cztery pięć', all: '4556 7375 8689 9855' },
    ],
    open: [
      { asked: 'Jaki jest pana numer telefonu?', said: 'pięć zero jeden' },
      { asked: 'Czy może pan przeliterować nazwisko?', said: 'k o w' },
    ],
    mail: { asked: 'Jaki jest pani adres e-mail?', said: 'anna kropka nowak małpa' },
    goodbyes: ['Do widzenia.', 'Dziękuję bardzo, miłego dnia.', 'Nawzajem.', 'Pa pa.'],
    more: ['Chwileczkę, jeszcze jedno pytanie.', 'Dziękuję, a kiedy państwo otwierają?'],
    pieces: ['Spotkanie jest przy ul. Długiej w centrum. ', 'Proszę zabrać np. paszport albo dowód. '],
  },
  hi: {
    yes: [
      'हाँ।',
      'हां जी।',
      'जी हाँ, धन्यवाद।',
      'ठीक है।',
      'हाँ, बुक कर दीजिए।',
      'Haan ji.',
      'Theek hai.',
      'Haan, book kar dijiye.',
    ],
    no: ['नहीं।', 'जी नहीं।', 'रुकिए।', 'नहीं, रहने दीजिए।', 'Nahi.', 'Nahin, rehne do.'],
    unclear: ['हाँ, लेकिन कल।', 'कितना लगेगा?', 'शायद।', 'Haan lekin kal.', 'Kitna lagega?'],
    listens: ['हाँ।', 'जी, समझ गया।', 'ठीक है ठीक है', 'अच्छा', 'Haan haan.', 'Accha, theek hai.', 'कोई बात नहीं'],
    stops: ['रुकिए।', 'एक मिनट रुको।', 'नहीं, शुक्रवार को।', 'क्या?', 'Ruko ruko.', 'Kya?', 'मुझे कुछ पूछना है'],
    begun: ['मतलब', 'मुझे', 'दो लोगों के लिए और', 'मेरा नाम', 'mera naam', 'do log aur', 'lekin'],
    thinking: ['एक मिनट।', 'अच्छा, सोचने दीजिए', 'जी, एक मिनट रुकिए।', 'देखता हूँ।', 'Ek minute, dekhta hoon.'],
    notThinking: ['मैं ट्रेन का इंतज़ार कर रहा हूँ।'],
    correction: 'नहीं सॉरी पाँच लोग',
    spelling: { asked: 'अपने नाम की स्पेलिंग, अक्षर बताइए।', said: 'कोवाल्स्की' },
    whole: ['दो लोगों की टेबल चाहिए', 'कल दोपहर', 'हाँ', 'do logon ki table chahiye', 'bees log'],
    digits: [
      { asked: 'अपना चार अंकों का पिन बताइए।', part: 'सात दो', all: 'सात दो नौ शून्य' },
      { asked: 'कार्ड के सोलह अंक बताइए।', part: 'चार पाँच', all: '4556 7375 8689 9855' },
      { asked: 'अपना चार अंकों का पिन बताइए।', part: 'saat do', all: 'saat do nau zero' },
    ],
    open: [
      { asked: 'आपका फ़ोन नंबर क्या है?', said: 'नौ आठ सात' },
      { asked: 'Aapka phone number kya hai?', said: 'nau aath saat' },
    ],
    mail: { asked: 'आपका ईमेल क्या है?', said: 'रवि डॉट शर्मा एट' },
    goodbyes: ['नमस्ते।', 'बहुत धन्यवाद, बाय।', 'Shukriya, bye bye.', 'Dhanyavaad.'],
    more: ['रुकिए, एक और सवाल।', 'Shukriya, aur kab khulta hai?'],
    pieces: ['कृपया कल डॉ. शर्मा से मिलिए। ', 'मैं अभी देखता हूँ कि टेबल है या नहीं। '],
  },
};
