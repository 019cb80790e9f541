/** Nods and interruptions that were written down later, before anybody had looked at the words of the languages: usual ones first, then rare ones. */
import { listed } from '../../../../shared/base/listed.ts';

export interface Later {
  readonly usual: readonly string[];
  readonly rare: readonly string[];
  readonly interruptions: readonly string[];
}

export const later: Readonly<Record<string, Later>> = {
  en: {
    usual: listed(
      "oh okay that makes sense|ah got you|right right|I hear you|fair enough|sure thing|oh nice one|that's wonderful|oh how lovely|wow okay|no way",
      "you don't say|is that so|oh brilliant|very good|splendid|yeah I see what you mean|I get it|mhm yes|okay cool|ah that explains it|good good",
      "that sounds great|sounds good to me|oh I had no idea|well well|that's a relief|oh thank goodness|perfect thank you|lovely|yeah exactly",
      "absolutely|of course|that's true|true enough|I suppose so|oh that's a shame|that's too bad|oh dear|oh my|gosh|really now|fantastic news",
      "that's helpful|oh that's very kind|good for you|alright then|yep yep|uh huh okay|I understand completely|makes total sense|oh right yes|funny",
      "how strange|that's so interesting|okay I'm with you|I'm following|as I thought|just as well|great stuff",
    ),
    rare: listed(
      "oh that's so thoughtful|I guess that's fair|how exciting|well that's good|ah now it makes sense|that's the one|sounds perfect to me",
      "I'm so glad|that's quite something|oh good heavens|I'd forgotten about that|you're very kind|okay that works|that's a load off my mind",
      "I see where you're going|ah very clever|that's fine by me|right okay then|oh that's funny|well I'm impressed|that's what I heard",
      "I thought it would be|mm good|aw that's sad|wonderful news|that's pretty decent|oh I'd love that|ah brilliant stuff|well that's convenient",
      "how kind|makes things easier|oh that's a nice touch|good heavens no way|very reassuring thanks|that's just what I hoped",
    ),
    interruptions: listed(
      "stop for a second|can I say something|wait I have a question|no that's wrong|not Monday|I meant the blue one|hold on a minute",
      "actually I want to cancel|cut it out|could you repeat that|speak slower please|what was the price again|that's not my address",
      "let me talk to a human|I already did that|I don't need that|skip this part|my number has changed|yes but when does it arrive|how much is it",
      'sorry who is this|excuse me|hang on|never mind|forget about it|go back|what about Tuesday|is it open on Sunday|I want a refund',
      "my name is Peter|no no no|quiet please|I can't hear you|you're breaking up|that's too expensive|make it two instead|where do I sign",
      "send it by email|okay but I need it today|wrong person|that's the wrong one|I'd rather have the small one|what do you mean by that",
      "it's not for me|wait what about my deposit|so is it free|can we do it later|I think you have the wrong file|my wife is allergic to nuts",
      'okay so how do I pay|that was last year|I moved in June|tell me the total|not that one|yes and also a salad|are you there',
      "where is it right now|okay where is it|that's not true|is that her|we have that already|you have the right one but in red|right now please",
      "would that be with him|so is it good or bad|who is that|was it sent|yeah is it free|it's for two|that's enough|this is awful",
      "I'd like that in green|not really|no good|it doesn't sound right|has it been sent|you're wrong|I never got it|that's all I need|he's my son",
    ),
  },
  de: {
    usual: listed(
      'ach so ist das|ah verstehe|na klar|alles klar|das ist ja toll|oh wie schön|das freut mich|interessant|sehr gut|super danke|ach wirklich',
      'na sowas|das wusste ich nicht|stimmt|stimmt genau|ganz genau|sehe ich auch so|ja gerne|das klingt gut|klingt prima|wunderbar|hervorragend',
      'ja eben|eben|ach du meine Güte|oh je|schade|das ist schade|wie ärgerlich|gut zu wissen|das ist gut zu wissen|das hilft mir|okay das passt',
      'passt|in Ordnung|geht klar|ach ja richtig|ja ja|so so|aha okay|mhm genau|hm interessant|das ist nett|sehr freundlich|da bin ich froh',
      'Gott sei Dank|zum Glück|das dachte ich mir|hab ich mir gedacht|echt jetzt|nicht zu fassen|unglaublich|wahnsinn|krass|spannend',
      'kann ich verstehen|das leuchtet ein|logisch|das macht Sinn|ist ja gut',
    ),
    rare: listed(
      'oh das ist aber aufmerksam|das ist fair|wie aufregend|na das ist doch schön|ah jetzt ergibt das Sinn|klingt perfekt|da freue ich mich',
      'das ist ja allerhand|das hatte ich ganz vergessen|Sie sind sehr freundlich|okay das geht|da fällt mir ein Stein vom Herzen|sehr clever',
      'das ist mir recht|gut okay|das ist ja witzig|ich bin beeindruckt|das habe ich gehört|oh wie traurig|tolle Neuigkeiten|das ist beruhigend',
      'genau richtig|ach herrlich|sehr erfreulich|da haben Sie recht|das ist ja ganz ordentlich|oh da würde ich mich freuen|ah tolle Sache',
      'na das ist praktisch|wie lieb|das macht es einfacher|eine nette Geste|du meine Güte|sehr beruhigend danke|genau was ich gehofft hatte',
    ),
    interruptions: listed(
      'stopp mal kurz|Moment mal|halt das stimmt nicht|nein das ist falsch|ich wollte den blauen|nicht am Montag|können Sie das wiederholen',
      'was kostet das|ich hätte eine Frage|darf ich kurz was sagen|warten Sie|langsamer bitte|ich will stornieren|das brauche ich nicht',
      'lassen Sie das|geben Sie mir einen Mitarbeiter|ich heiße Peter|wer ist da|das habe ich schon gemacht|und wann kommt das|ja aber wann',
      'geht auch Dienstag|meine Nummer ist anders|entschuldigung|vergessen Sie es|noch mal bitte|ich verstehe Sie nicht|die Verbindung ist schlecht',
      'das ist mir zu teuer|lieber zwei|schicken Sie es per Mail|wo muss ich hin|nein nein nein|Ruhe bitte|zurück bitte|ist sonntags offen',
      'ich möchte mein Geld zurück|okay aber ich brauche es heute|falsche Person|überspringen Sie das|das ist der falsche',
      'ich hätte lieber den kleinen|wie meinen Sie das|das ist nicht für mich|was ist mit meiner Kaution|ist das kostenlos|geht das auch später',
      'Sie haben die falsche Akte|meine Frau hat eine Allergie|wie bezahle ich das|das war letztes Jahr|ich bin umgezogen|was macht das zusammen',
      'nicht die|ja und noch einen Salat|sind Sie da|wo ist das denn jetzt|okay wo ist das|das ist nicht wahr|ist das meine|das haben wir schon',
      'ja geht das auch|ja ist das gut|sofort bitte|ist das mit Frühstück|wer ist das|wurde das geschickt|für zwei|das reicht|das ist furchtbar',
      'das hätte ich gern in Grün|nicht wirklich|das klingt nicht gut|Sie haben unrecht|das ist alles|er ist mein Sohn|hat das geklappt|und dann',
      'bin ich da richtig|wäre das möglich',
    ),
  },
  fr: {
    usual: listed(
      "ah d'accord je vois|ah bon|c'est vrai|très bien|parfait merci|super|oh génial|c'est génial ça|quelle bonne nouvelle|oh c'est gentil",
      "ah je comprends|je comprends bien|bien sûr|évidemment|tout à fait|exactement|c'est exact|ça marche|ça me va|pas de souci|entendu|oui oui",
      "mhm d'accord|ah oui effectivement|en effet|intéressant|c'est intéressant|tiens donc|sans blague|incroyable|c'est fou|dommage|c'est dommage",
      "oh là là|mince alors|quel soulagement|tant mieux|c'est bon à savoir|bon à savoir|je ne savais pas|je m'en doutais|c'est logique",
      "ça paraît logique|ça tombe bien|magnifique|formidable|excellent|nickel|impeccable|ouais ouais|ouais ok|ah oui quand même|voilà|c'est ça",
      "comme je pensais|j'entends bien|je vous suis|ah mais oui|c'est clair|compris",
    ),
    rare: listed(
      "oh c'est vraiment attentionné|c'est correct|comme c'est excitant|eh bien c'est bien|ah maintenant je comprends|ça me paraît parfait",
      "je suis ravie|c'est quelque chose|j'avais oublié ça|vous êtes très aimable|ok ça va|ça m'enlève un poids|très malin|ça me convient",
      "bon d'accord|c'est marrant|je suis impressionné|c'est ce qu'on m'a dit|oh c'est triste|quelle merveilleuse nouvelle|c'est rassurant|pile poil",
      "ah quel bonheur|très agréable|vous avez tout à fait raison|c'est plutôt pas mal|oh j'adorerais|ah super truc|bon c'est pratique",
      "comme c'est gentil|ça simplifie les choses|quelle délicate attention|mon Dieu|très rassurant merci|c'est justement ce que j'espérais",
    ),
    interruptions: listed(
      "attendez une seconde|arrêtez|non c'est faux|je voulais le bleu|pas lundi|vous pouvez répéter|combien ça coûte|j'ai une question",
      "je peux dire quelque chose|moins vite s'il vous plaît|je veux annuler|je n'en ai pas besoin|laissez tomber|passez-moi un conseiller",
      "je m'appelle Pierre|qui est à l'appareil|je l'ai déjà fait|et ça arrive quand|oui mais quand|et mardi|mon numéro a changé|excusez-moi|pardon",
      "encore une fois|je ne vous entends pas|ça coupe|c'est trop cher|plutôt deux|envoyez-le par mail|où dois-je aller|non non non|taisez-vous",
      "revenez en arrière|c'est ouvert le dimanche|je veux être remboursé|d'accord mais j'en ai besoin aujourd'hui|ce n'est pas moi",
      "sautez cette partie|ce n'est pas mon adresse|moi c'est pour une réservation|ce n'est pas le bon|je préfère le petit",
      "qu'est-ce que vous voulez dire|ce n'est pas pour moi|et ma caution|c'est gratuit|on peut le faire plus tard|vous avez le mauvais dossier",
      "ma femme est allergique|comment je paie|c'était l'année dernière|j'ai déménagé|ça fait combien en tout|pas celui-là|oui et aussi une salade",
      "vous êtes là|où est-ce maintenant|d'accord mais où|ce n'est pas vrai|c'est à elle|on a déjà ça|oui c'est possible quand|tout de suite",
      "c'est avec lui|qui est-ce|ça a été envoyé|pour deux|ça suffit|c'est affreux|je voudrais ça en vert|pas vraiment|ça ne sonne pas bien",
      "vous avez tort|c'est tout|c'est mon fils|est-ce que c'est bien|et après|qu'est-ce que c'est|c'est qui|je ne l'ai jamais eu",
    ),
  },
  es: {
    usual: listed(
      'ah ya entiendo|ah bueno|es verdad|muy bien|perfecto gracias|genial|qué bien|qué bueno|qué buena noticia|ah qué amable|ya veo|claro que sí',
      'por supuesto|desde luego|exactamente|exacto|así es|me parece bien|suena bien|sin problema|entendido|sí sí|ajá vale|ah sí efectivamente',
      'en efecto|interesante|qué interesante|mira tú|no me diga|increíble|qué locura|qué pena|qué lástima|vaya por Dios|madre mía|qué alivio',
      'menos mal|es bueno saberlo|bueno saberlo|no lo sabía|ya me lo imaginaba|tiene sentido|es lógico|me viene bien|maravilloso|estupendo|fenomenal',
      'excelente|fantástico|vale vale|de acuerdo|pues sí|eso es|como pensaba|le sigo|ah pues claro|está claro|comprendo|muy amable|ya ya',
    ),
    rare: listed(
      'oh qué considerado|me parece justo|qué emocionante|bueno eso está bien|ah ahora tiene sentido|me suena perfecto|me alegro muchísimo',
      'eso sí que es algo|se me había olvidado|es usted muy amable|vale eso funciona|me quita un peso de encima|muy listo|por mí bien|bueno vale',
      'qué divertido|estoy impresionado|eso me dijeron|ay qué triste|una noticia maravillosa|qué tranquilidad|justo lo que esperaba|ah qué maravilla',
      'muy agradable|tiene usted toda la razón|está bastante bien|ay me encantaría|ah qué cosa más buena|bueno es práctico|qué amable',
      'eso facilita las cosas|qué bonito detalle|Dios mío|muy tranquilizador gracias|justo lo que quería oír',
    ),
    interruptions: listed(
      'espere un segundo|pare|no eso está mal|quería el azul|el lunes no|puede repetirlo|cuánto cuesta|tengo una pregunta|puedo decir algo',
      'más despacio por favor|quiero cancelar|no lo necesito|déjelo|páseme con una persona|me llamo Pedro|quién habla|ya lo hice|y cuándo llega',
      'sí pero cuándo|y el martes|mi número ha cambiado|disculpe|perdone|otra vez por favor|no le oigo|se corta|es muy caro|mejor dos',
      'mándelo por correo|dónde tengo que ir|no no no|cállese|vuelva atrás|abren los domingos|quiero que me devuelvan el dinero',
      'vale pero lo necesito hoy|se equivoca de persona|sáltese esa parte|esa no es mi dirección|yo llamaba por una reserva|ese no es',
      'prefiero el pequeño|qué quiere decir con eso|no es para mí|y mi depósito|es gratis|podemos hacerlo luego|tiene el expediente equivocado',
      'mi mujer es alérgica|cómo pago|eso fue el año pasado|me he mudado|cuánto es en total|ese no|sí y también una ensalada|está usted ahí',
      'dónde está ahora|vale dónde está|no es verdad|es de ella|eso ya lo tenemos|sí es posible cuándo|ahora mismo|es con él|quién es|se ha enviado',
      'para dos|ya basta|esto es horrible|lo querría en verde|no mucho|no suena bien|se equivoca|eso es todo|es mi hijo|tiene usted el mío|y después',
      'qué es eso|en qué calle|no lo he recibido',
    ),
  },
  tr: {
    usual: listed(
      'öyle mi|ha anladım|anladım tamam|çok iyi|çok güzel|harika|süper|mükemmel teşekkürler|ne güzel|çok sevindim|haklısınız|doğru|çok doğru|aynen',
      'aynen öyle|elbette|tabii ki|kesinlikle|olur|bana uyar|kulağa hoş geliyor|sorun değil|peki|peki tamam|evet evet|hı hı tamam|gerçekten mi',
      'ciddi misiniz|ilginç|çok ilginç|vay be|vay canına|inanılmaz|hayret|yazık|çok yazık|eyvah|aman Allahım|çok şükür|neyse ki|bunu bilmiyordum',
      'bilmem iyi oldu|tahmin etmiştim|mantıklı|gayet mantıklı|şahane|muhteşem|fevkalade|enfes|iyi iyi|güzel güzel|demek öyle|öyle demek',
      'tam düşündüğüm gibi|sizi dinliyorum|takip ediyorum|çok naziksiniz|sağ olun|eh iyi bari|oldu',
    ),
    rare: listed(
      'çok düşünceli|bence adil|ne heyecanlı|eh bu iyi|ha şimdi mantıklı oldu|bana mükemmel geldi|çok memnun oldum|bu bayağı iyi|unutmuşum onu',
      'çok kibarsınız|tamam bu olur|içime su serpildi|çok akıllıca|bana uygun|iyi tamam|çok komik|etkilendim|öyle duymuştum|ah çok üzücü',
      'harika haber|çok rahatlatıcı|tam istediğim gibi|oh ne güzel|çok hoş|çok haklısınız|bu oldukça iyi|ah çok isterim|çok güzel şey|pratikmiş bu',
      'ne kadar naziksiniz|bu işi kolaylaştırır|ne hoş bir jest|aman Tanrım|içim rahatladı sağ olun|tam umduğum gibi',
    ),
    interruptions: listed(
      'bir saniye durun|dur|hayır bu yanlış|ben mavi olanı istedim|pazartesi olmaz|tekrar eder misiniz|kaç para|bir sorum var',
      'bir şey söyleyebilir miyim|daha yavaş lütfen|iptal etmek istiyorum|ona ihtiyacım yok|boş verin|beni bir temsilciye bağlayın|adım Mehmet',
      'kimsiniz|onu zaten yaptım|ne zaman gelir|evet ama ne zaman|salı olur mu|numaram değişti|affedersiniz|pardon|bir daha söyleyin',
      'sizi duyamıyorum|ses kesiliyor|çok pahalı|iki tane olsun|mail ile gönderin|nereye gitmem lazım|hayır hayır hayır|susun lütfen|geri dönün',
      'pazar günü açık mı|paramı geri istiyorum|tamam ama bugün lazım|yanlış kişi|o kısmı geçin|bu benim adresim değil|rezervasyon için aramıştım',
      'o yanlış olan|ben küçüğünü isterim|ne demek istiyorsunuz|benim için değil|depozitom ne olacak|ücretsiz mi|sonra yapabilir miyiz',
      'yanlış dosyaya bakıyorsunuz|eşimin alerjisi var|nasıl ödeyeceğim|o geçen seneydi|taşındım|toplam ne kadar|o değil|evet bir de salata',
      'orada mısınız|şimdi nerede|tamam nerede|bu doğru değil|o onun mu|bu bizde var|evet olur mu peki|hemen şimdi|onunla mı|kim o|gönderildi mi',
      'iki kişi için|yeter|bu berbat|yeşilini isterim|pek değil|iyi gelmiyor|yanılıyorsunuz|hepsi bu|o benim oğlum|bu iyi mi|ya sonra|o ne',
      'hangi sokak|bana gelmedi',
    ),
  },
  it: {
    usual: listed(
      'ah ho capito|capisco|va bene|benissimo|perfetto grazie|che bello|che bella notizia|molto gentile|ma certo|certamente|esatto|proprio così',
      'mi sembra giusto|suona bene|nessun problema|sì sì|ah davvero|interessante|ma dai|incredibile|che peccato|mamma mia|meno male|buono a sapersi',
      'non lo sapevo|lo immaginavo|ha senso|ottimo|meraviglioso|è vero',
    ),
    rare: listed(
      'oh che premuroso|mi sembra corretto|che emozione|beh questo va bene|ah adesso ha senso|sono contentissimo|è molto gentile lei|ok funziona',
      'molto furbo|per me va bene|che divertente|sono colpito|oh che triste|che notizia meravigliosa|ha proprio ragione|è piuttosto buono',
      "mi piacerebbe molto|che bella cosa|oh com'è gentile|molto rassicurante grazie",
    ),
    interruptions: listed(
      'aspetti un attimo|si fermi|no è sbagliato|volevo quello blu|può ripetere|quanto costa|ho una domanda|più piano per favore|voglio annullare',
      "non mi serve|mi passi un operatore|mi chiamo Pietro|chi parla|l'ho già fatto|e quando arriva|sì ma quando|mi scusi|non la sento|è troppo caro",
      "meglio due|non è quello|preferisco il piccolo|cosa intende|e la mia caparra|è gratis|possiamo farlo dopo|come pago|era l'anno scorso",
      "mi sono trasferito|sì e anche un'insalata|è lì|dov'è adesso|non è vero|è di lei|subito per favore|chi è|per due|basta così|è orribile",
      'è mio figlio',
    ),
  },
  pt: {
    usual: listed(
      'ah entendi|percebo|está bem|muito bem|perfeito obrigado|que bom|que ótima notícia|muito simpático|claro que sim|com certeza|exatamente',
      'isso mesmo|me parece bem|parece bom|sem problema|sim sim|ah é mesmo|interessante|não acredito|incrível|que pena|meu Deus|ainda bem|bom saber',
      'eu não sabia|já imaginava|faz sentido|ótimo|maravilhoso|é verdade',
    ),
    rare: listed(
      'ai que atencioso|me parece justo|que emoção|bom isso é bom|ah agora faz sentido|fico muito contente|você é muito gentil|tá isso funciona',
      'muito esperto|por mim tudo bem|que engraçado|estou impressionado|ah que triste|que notícia maravilhosa|tem toda a razão|está bem bom',
      'adoraria isso|que coisa boa|que gentileza a sua|muito tranquilizador obrigado',
    ),
    interruptions: listed(
      'espere um segundo|pare|não está errado|eu queria o azul|pode repetir|quanto custa|tenho uma pergunta|mais devagar por favor|quero cancelar',
      'não preciso disso|passe para um atendente|meu nome é Pedro|quem fala|já fiz isso|e quando chega|sim mas quando|com licença|não estou ouvindo',
      'é muito caro|melhor dois|não é esse|prefiro o pequeno|o que quer dizer|e o meu depósito|é grátis|podemos fazer depois|como eu pago',
      'isso foi ano passado|eu me mudei|sim e também uma salada|você está aí|onde está agora|não é verdade|é dela|agora mesmo|quem é|para dois',
      'já chega|isso é horrível|é meu filho',
    ),
  },
  nl: {
    usual: listed(
      'ah ik snap het|ik begrijp het|dat is goed|heel goed|perfect bedankt|wat leuk|wat een goed nieuws|heel vriendelijk|natuurlijk|zeker weten',
      'precies|inderdaad|lijkt me prima|klinkt goed|geen probleem|ja ja|oh echt waar|interessant|je meent het|ongelooflijk|wat jammer|oh jee',
      'gelukkig maar|goed om te weten|dat wist ik niet|dat dacht ik al|dat is logisch|uitstekend|geweldig|dat klopt',
    ),
    rare: listed(
      'oh wat attent|dat lijkt me eerlijk|wat spannend|nou dat is mooi|ah nu snap ik het|ik ben zo blij|u bent heel vriendelijk|oké dat werkt',
      'heel slim|dat is mij goed|wat grappig|ik ben onder de indruk|oh wat verdrietig|wat heerlijk nieuws|u heeft helemaal gelijk|dat is best goed',
      'oh dat zou ik leuk vinden|wat een mooi ding|wat lief van u|heel geruststellend bedankt',
    ),
    interruptions: listed(
      'wacht even|stop|nee dat is fout|ik wilde de blauwe|kunt u dat herhalen|wat kost het|ik heb een vraag|wat langzamer graag|ik wil annuleren',
      'dat heb ik niet nodig|geef me een medewerker|ik heet Pieter|met wie spreek ik|dat heb ik al gedaan|en wanneer komt het|ja maar wanneer|pardon',
      'ik hoor u niet|dat is te duur|liever twee|dat is de verkeerde|ik heb liever de kleine|wat bedoelt u|en mijn borg|is het gratis|kan het later',
      'hoe betaal ik|dat was vorig jaar|ik ben verhuisd|ja en ook een salade|bent u daar|waar is het nu|ja is het goed|het is van haar|nu meteen',
      'wie is dat|voor twee|zo is het genoeg|dit is vreselijk|het is mijn zoon',
    ),
  },
  pl: {
    usual: listed(
      'aha rozumiem|no tak|w porządku|bardzo dobrze|świetnie dziękuję|jak miło|to wspaniała wiadomość|bardzo pan miły|oczywiście|jasne|dokładnie',
      'zgadza się|pasuje mi|brzmi dobrze|nie ma sprawy|tak tak|ach naprawdę|ciekawe|co pan powie|niesamowite|jaka szkoda|o rany|całe szczęście',
      'dobrze wiedzieć|nie wiedziałem|tak myślałem|to ma sens|doskonale|cudownie|to prawda',
    ),
    rare: listed(
      'och jak uprzejmie|brzmi uczciwie|jakie ekscytujące|no to dobrze|aha teraz to ma sens|bardzo się cieszę|jest pani bardzo miła|ok to działa',
      'bardzo sprytne|mnie to pasuje|jakie zabawne|jestem pod wrażeniem|ojej jakie smutne|cudowna wiadomość|ma pan całkowitą rację|całkiem niezłe',
      'bardzo bym chciał|jaka świetna rzecz|jak miło z pani strony|bardzo uspokajające dziękuję',
    ),
    interruptions: listed(
      'proszę poczekać|stop|nie to źle|chciałem niebieski|proszę powtórzyć|ile to kosztuje|mam pytanie|wolniej proszę|chcę anulować',
      'nie potrzebuję tego|proszę połączyć z konsultantem|nazywam się Piotr|kto mówi|już to zrobiłem|a kiedy przyjdzie|tak ale kiedy|przepraszam',
      'nie słyszę pana|to za drogo|raczej dwa|to nie ten|wolę mały|co pan ma na myśli|a moja kaucja|czy to za darmo|możemy później|jak mam zapłacić',
      'to było w zeszłym roku|przeprowadziłem się|tak i jeszcze sałatkę|jest pan tam|gdzie to teraz jest|to nieprawda|to jest jej|natychmiast|kto to',
      'dla dwóch|wystarczy|to okropne|to mój syn',
    ),
  },
  hi: {
    usual: listed(
      'अच्छा समझ गया|हाँ समझ रहा हूँ|ठीक है|बहुत अच्छा|बहुत बढ़िया धन्यवाद|क्या बात है|यह तो अच्छी खबर है|बड़ी मेहरबानी|ज़रूर|बिल्कुल|बिल्कुल सही',
      'हाँ हाँ|ठीक ही है|अच्छा लग रहा है|कोई बात नहीं|जी जी|अच्छा सच में|दिलचस्प|अरे वाह|कमाल है|अफ़सोस|हे भगवान|शुक्र है|जानकर अच्छा लगा',
      'मुझे पता नहीं था|मैंने यही सोचा था|सही बात है|शानदार|बहुत खूब|सच है',
    ),
    rare: listed(
      'अरे कितना अच्छा|मुझे ठीक लगता है|चलो यह अच्छा है|अच्छा अब समझ आया|मैं बहुत खुश हूँ|आप बहुत अच्छे हैं|ठीक है चलेगा|बहुत समझदारी',
      'मेरे लिए ठीक है|कितना मज़ेदार|अरे बहुत दुख हुआ|बहुत बढ़िया खबर|आप बिल्कुल सही हैं|बहुत सुंदर|अच्छा यह बात है|यह काफ़ी अच्छा है',
      'मुझे बहुत अच्छा लगेगा|क्या बढ़िया चीज़ है|आपकी मेहरबानी|सुनकर तसल्ली हुई',
    ),
    interruptions: listed(
      'एक सेकंड रुकिए|रुको|नहीं यह गलत है|मुझे नीला वाला चाहिए था|फिर से बोलिए|कितने का है|मेरा एक सवाल है|थोड़ा धीरे बोलिए|मुझे रद्द करना है',
      'मुझे इसकी ज़रूरत नहीं|किसी आदमी से बात कराइए|मेरा नाम राहुल है|कौन बोल रहा है|वह मैं कर चुका हूँ|और कब आएगा|हाँ लेकिन कब|माफ़ कीजिए',
      'आवाज़ नहीं आ रही|यह बहुत महँगा है|दो कर दीजिए|वह वाला नहीं|मुझे छोटा चाहिए|आपका मतलब क्या है|मेरी जमा राशि का क्या|क्या यह मुफ़्त है',
      'बाद में कर सकते हैं|मैं पैसे कैसे दूँ|वह पिछले साल था|मैंने घर बदल लिया|हाँ और एक सलाद भी|आप वहाँ हैं|अब कहाँ है|यह सच नहीं है|यह उसका है',
      'अभी चाहिए|कौन है|दो के लिए|बस कीजिए|यह बहुत बुरा है|यह मेरा बेटा है',
    ),
  },
};
